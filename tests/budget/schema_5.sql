BEGIN TRANSACTION;
CREATE TABLE answers (
        sequence INTEGER PRIMARY KEY,
        token TEXT NOT NULL,
        answer TEXT NOT NULL,
        release TEXT
    );
INSERT INTO "answers" VALUES(1,'9D54AC82AED83F7AC15D27CC0EB7A058','{"answer": ["w3"]}','{"answer": ["w3"], "exact": true, "noisy_scores": null, "refunded": 0.0, "interval": null, "certain": null, "groups": null, "other": null, "counts": null, "scale": null}');
CREATE TABLE draws (
        sequence INTEGER PRIMARY KEY,
        token TEXT NOT NULL,
        answer TEXT NOT NULL
    );
INSERT INTO "draws" VALUES(3,'AA2DA39019036F8FF2D3C3521234086B','{"answer": [3]}');
CREATE TABLE entries (
        sequence INTEGER PRIMARY KEY,
        epsilon REAL NOT NULL CHECK (epsilon >= 0),
        delta REAL NOT NULL CHECK (delta >= 0 AND delta < 1),
        rho REAL NOT NULL CHECK (rho >= 0),
        question TEXT NOT NULL DEFAULT '{}',
        time TEXT NOT NULL DEFAULT '', mechanism TEXT NOT NULL DEFAULT '', note TEXT NOT NULL DEFAULT '', version TEXT NOT NULL DEFAULT '', source TEXT NOT NULL DEFAULT '', source_version TEXT NOT NULL DEFAULT '', analyst TEXT NOT NULL DEFAULT '', share TEXT NOT NULL DEFAULT '', period TEXT NOT NULL DEFAULT '', key TEXT NOT NULL DEFAULT '',
        steps INTEGER NOT NULL DEFAULT 1 CHECK (typeof(steps) = 'integer' AND steps > 0),
        laplace_rounds INTEGER NOT NULL DEFAULT 0 CHECK (laplace_rounds >= 0),
        epsilons TEXT NOT NULL,
        deltas TEXT NOT NULL,
        rhos TEXT NOT NULL,
        token TEXT NOT NULL DEFAULT (hex(randomblob(16))),
        CHECK (typeof(epsilon) = 'real' AND typeof(delta) = 'real' AND typeof(rho) = 'real'),
        CHECK (typeof(laplace_rounds) = 'integer'),
        CHECK (delta > 0 OR (epsilon > 0 AND rho > 0))
    );
INSERT INTO "entries" VALUES(1,0.5,0.0,9.96249030748180136596e-02,'{"query": "TopKeys", "arguments": {"column": "ward", "k": 1, "candidates": "400 values from w0 to w399"}, "spends": [{"purpose": "one candidate, without replacement", "epsilon": 0.5, "times": 1, "delta": 0.0, "rho": 0.09962490307481801}], "composition": "sequential: the prices of all steps add up", "public": ["the candidates", "k"], "error_bound": {"value": 17.974393641323942, "unit": "people below the best", "probability": 0.95}, "written": {"dpselect": 1, "query": "TopKeys", "column": "ward", "k": 1, "candidates": {"count": 400, "first": "w0", "last": "w399", "sha256": "e47fead2b8beb87275b00c9fabd58aa4a3392334391bd7da218f0651ad149888"}, "counts_share": 0.0, "other": false, "missing_keys": "drop", "epsilon": 0.5, "delta": 0.0, "neighbours": "add-remove"}}','2026-11-29T08:44:02+00:00','TopKeys: PermuteAndFlip(epsilon=0.5)','','0.1.0','a.csv','','','','','adbb5463820d24c15511220b772507c6c7dd076736183905db9c1b40e408ac0e',1,1,'1/2','0','9962490307481801/100000000000000000','9D54AC82AED83F7AC15D27CC0EB7A058');
INSERT INTO "entries" VALUES(2,0.5,0.0,1.22459331201965934687e-01,'{}','2026-11-29T08:44:02+00:00','','','0.1.0','','','','','','',1,0,'1','0','11104211713839197/50000000000000000','37B6BB90C28F8E618DCF24C53302F1BB');
INSERT INTO "entries" VALUES(3,0.25,0.0,3.10882504429273245905e-02,'{}','2026-11-29T08:44:02+00:00','','','0.1.0','','','','','','',1,0,'5/4','0','50634496943942253/200000000000000000','AA2DA39019036F8FF2D3C3521234086B');
CREATE TABLE lists (
        sha256 TEXT PRIMARY KEY,
        json TEXT NOT NULL
    );
INSERT INTO "lists" VALUES('e47fead2b8beb87275b00c9fabd58aa4a3392334391bd7da218f0651ad149888','["w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8", "w9", "w10", "w11", "w12", "w13", "w14", "w15", "w16", "w17", "w18", "w19", "w20", "w21", "w22", "w23", "w24", "w25", "w26", "w27", "w28", "w29", "w30", "w31", "w32", "w33", "w34", "w35", "w36", "w37", "w38", "w39", "w40", "w41", "w42", "w43", "w44", "w45", "w46", "w47", "w48", "w49", "w50", "w51", "w52", "w53", "w54", "w55", "w56", "w57", "w58", "w59", "w60", "w61", "w62", "w63", "w64", "w65", "w66", "w67", "w68", "w69", "w70", "w71", "w72", "w73", "w74", "w75", "w76", "w77", "w78", "w79", "w80", "w81", "w82", "w83", "w84", "w85", "w86", "w87", "w88", "w89", "w90", "w91", "w92", "w93", "w94", "w95", "w96", "w97", "w98", "w99", "w100", "w101", "w102", "w103", "w104", "w105", "w106", "w107", "w108", "w109", "w110", "w111", "w112", "w113", "w114", "w115", "w116", "w117", "w118", "w119", "w120", "w121", "w122", "w123", "w124", "w125", "w126", "w127", "w128", "w129", "w130", "w131", "w132", "w133", "w134", "w135", "w136", "w137", "w138", "w139", "w140", "w141", "w142", "w143", "w144", "w145", "w146", "w147", "w148", "w149", "w150", "w151", "w152", "w153", "w154", "w155", "w156", "w157", "w158", "w159", "w160", "w161", "w162", "w163", "w164", "w165", "w166", "w167", "w168", "w169", "w170", "w171", "w172", "w173", "w174", "w175", "w176", "w177", "w178", "w179", "w180", "w181", "w182", "w183", "w184", "w185", "w186", "w187", "w188", "w189", "w190", "w191", "w192", "w193", "w194", "w195", "w196", "w197", "w198", "w199", "w200", "w201", "w202", "w203", "w204", "w205", "w206", "w207", "w208", "w209", "w210", "w211", "w212", "w213", "w214", "w215", "w216", "w217", "w218", "w219", "w220", "w221", "w222", "w223", "w224", "w225", "w226", "w227", "w228", "w229", "w230", "w231", "w232", "w233", "w234", "w235", "w236", "w237", "w238", "w239", "w240", "w241", "w242", "w243", "w244", "w245", "w246", "w247", "w248", "w249", "w250", "w251", "w252", "w253", "w254", "w255", "w256", "w257", "w258", "w259", "w260", "w261", "w262", "w263", "w264", "w265", "w266", "w267", "w268", "w269", "w270", "w271", "w272", "w273", "w274", "w275", "w276", "w277", "w278", "w279", "w280", "w281", "w282", "w283", "w284", "w285", "w286", "w287", "w288", "w289", "w290", "w291", "w292", "w293", "w294", "w295", "w296", "w297", "w298", "w299", "w300", "w301", "w302", "w303", "w304", "w305", "w306", "w307", "w308", "w309", "w310", "w311", "w312", "w313", "w314", "w315", "w316", "w317", "w318", "w319", "w320", "w321", "w322", "w323", "w324", "w325", "w326", "w327", "w328", "w329", "w330", "w331", "w332", "w333", "w334", "w335", "w336", "w337", "w338", "w339", "w340", "w341", "w342", "w343", "w344", "w345", "w346", "w347", "w348", "w349", "w350", "w351", "w352", "w353", "w354", "w355", "w356", "w357", "w358", "w359", "w360", "w361", "w362", "w363", "w364", "w365", "w366", "w367", "w368", "w369", "w370", "w371", "w372", "w373", "w374", "w375", "w376", "w377", "w378", "w379", "w380", "w381", "w382", "w383", "w384", "w385", "w386", "w387", "w388", "w389", "w390", "w391", "w392", "w393", "w394", "w395", "w396", "w397", "w398", "w399"]');
CREATE TABLE refunds (
        number INTEGER PRIMARY KEY,
        sequence INTEGER NOT NULL UNIQUE,
        epsilon REAL NOT NULL CHECK (typeof(epsilon) = 'real' AND epsilon > 0),
        refunds TEXT NOT NULL,
        share TEXT NOT NULL DEFAULT '',
        period TEXT NOT NULL DEFAULT ''
    );
INSERT INTO "refunds" VALUES(1,2,0.25,'1/4','','');
CREATE TABLE totals (
        epsilon REAL NOT NULL CHECK (epsilon > 0),
        delta REAL NOT NULL CHECK (delta >= 0 AND delta < 1),
        neighbours TEXT NOT NULL,
        terms TEXT NOT NULL,
        identity TEXT NOT NULL DEFAULT (hex(randomblob(16)))
    );
INSERT INTO "totals" VALUES(9.0,0.0,'add-remove','{"persons": null, "composition": "sum", "shares": [], "period": null}','78F76CDB7272CB1062CD89D5DF361C1A');
CREATE INDEX entries_of ON entries (period, share);
CREATE INDEX refunds_of ON refunds (period, share);
CREATE INDEX entries_like ON entries (key) WHERE key <> '';
CREATE TRIGGER totals_no_UPDATE BEFORE UPDATE ON totals
        BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER totals_no_DELETE BEFORE DELETE ON totals
        BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER entries_no_UPDATE BEFORE UPDATE ON entries
        BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER entries_no_DELETE BEFORE DELETE ON entries
        BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER answers_no_UPDATE BEFORE UPDATE ON answers
        BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER answers_no_DELETE BEFORE DELETE ON answers
        BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER refunds_no_UPDATE BEFORE UPDATE ON refunds
        BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER refunds_no_DELETE BEFORE DELETE ON refunds
        BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER totals_one_row BEFORE INSERT ON totals
    WHEN EXISTS (SELECT * FROM totals)
    BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER entries_in_order BEFORE INSERT ON entries
    WHEN NEW.sequence IS NOT (SELECT coalesce(max(sequence), 0) + 1 FROM entries)
    BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER answers_once BEFORE INSERT ON answers
    WHEN EXISTS (SELECT * FROM answers WHERE sequence = NEW.sequence)
        OR NEW.token IS NOT (SELECT token FROM entries WHERE sequence = NEW.sequence)
    BEGIN SELECT RAISE(ABORT, 'an entry has one answer'); END;
CREATE TRIGGER refunds_in_order BEFORE INSERT ON refunds
    WHEN NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM refunds)
        OR EXISTS (SELECT * FROM refunds WHERE sequence = NEW.sequence)
        OR NOT EXISTS (
            SELECT * FROM entries WHERE sequence = NEW.sequence AND epsilon >= NEW.epsilon
        )
    BEGIN SELECT RAISE(ABORT, 'a spend is refunded once'); END;
CREATE TRIGGER lists_no_UPDATE BEFORE UPDATE ON lists
        BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER lists_no_DELETE BEFORE DELETE ON lists
        BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER draws_no_UPDATE BEFORE UPDATE ON draws
        BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER draws_no_DELETE BEFORE DELETE ON draws
        BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER lists_once BEFORE INSERT ON lists
    WHEN EXISTS (SELECT * FROM lists WHERE sha256 = NEW.sha256)
    BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER draws_once BEFORE INSERT ON draws
    WHEN EXISTS (SELECT * FROM draws WHERE sequence = NEW.sequence)
        OR NEW.token IS NOT (SELECT token FROM entries WHERE sequence = NEW.sequence)
    BEGIN SELECT RAISE(ABORT, 'an entry is drawn once'); END;
COMMIT;
PRAGMA application_id = 1685091180;
PRAGMA user_version = 5;
