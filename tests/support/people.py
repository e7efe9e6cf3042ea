"""Which rows of a person count, by the words of ``dpselect.tables.people``."""

from datetime import date
from hashlib import md5

from dpselect.tables.people import KEY, PRIME, SECOND


def number_of(person):
    """Return the integer that a person is."""
    if isinstance(person, str):
        return int(md5(person.encode(), usedforsecurity=False).hexdigest()[:15], 16)
    if isinstance(person, date):
        return person.year * 512 + person.month * 32 + person.day
    return int(person)


def numbers_of_places(person, places, key=KEY):
    """Return the numbers of a person's places."""
    words = md5(key.encode(), usedforsecurity=False).hexdigest()
    first, second = (int(words[8 * i : 8 * i + 8], 16) % 2**29 for i in range(2))
    number = number_of(person)
    s = (number + first) ** 3 % PRIME
    t = (s + second + number % SECOND) ** 3 % PRIME
    return [((r + s) ** 3 % PRIME + t) ** 3 % PRIME for r in range(places)]


def counted_of(person, values, most, *, key=KEY):
    """Return the values of a person that count, in order."""
    numbers = numbers_of_places(person, len(values), key)
    places = sorted(range(len(values)), key=numbers.__getitem__)[:most]
    return [sorted(values)[place] for place in sorted(places)]


def rows_that_count(database, groups, most):
    """Return the rows of some groups that count, of persons with rows (group, value)."""
    found = []
    for user, rows in enumerate(database):
        there = sorted(row for row in rows if row[0] in groups)
        places = counted_of(user, list(enumerate(there)), most) if len(there) > most else None
        found += there if places is None else [row for _, row in places]
    return found


def numbered(rows, groups):
    """Return rows with the places of their groups; the rest is after all others."""
    places = {group: place for place, group in enumerate(groups)}
    return tuple((places.get(g, len(groups)), v) for g, v in rows)
