"""Keys and questions for the tests, drawn from a seed: the same in every run."""

import random

OWNERS = """amber anchor badger cedar cobalt copper dragon eagle ember falcon forest garden glacier harbor hazel island
ivory jasper jungle kernel lantern lemon magnet marble needle nickel oasis olive orchid pepper planet prairie quartz
rabbit raven river saddle salmon shadow silver""".split()
THINGS = """basket beacon bridge bronze button candle canyon carpet cellar circle coffee comet cotton crystal desert
dinner engine fabric feather finger flower folder galaxy ginger guitar hammer helmet honey""".split()
TRAITS = """budget colour deadline address owner password timezone supplier version weight status region priority
currency""".split()

#: Nothing of these is in any key, but for words that keys and questions share by chance of spelling.
UNRELATED = """how tall is mount everest in meters
who won the football championship last year
what is the capital of france
how do I cook pasta
weather forecast tomorrow
when was the french revolution
which planet is the largest
how many people live in tokyo
what does a violin cost
who painted the mona lisa
is it going to rain on sunday
how far away is the moon
what time does the museum open
recommend a good science fiction novel
how do vaccines work
why is the sky blue
translate good morning to spanish
what is the square root of two
who invented the telephone
how long should I boil an egg""".splitlines()


def keys(count: int, seed: int = 0) -> list[str]:
    """Return *count* distinct keys of three words, such as "amber-basket-budget"."""
    drawn = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        found["-".join((drawn.choice(OWNERS), drawn.choice(THINGS), drawn.choice(TRAITS)))] = None
    return list(found)


def question(key: str) -> str:
    """Return a question with all words of *key*."""
    owner, thing, trait = key.split("-")
    return f"what is the {trait} of the {owner} {thing}?"


def misspelt(key: str, drawn: random.Random) -> str:
    """Return *key* with one character inserted, left out, replaced or swapped with the next."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    while True:
        at = drawn.randrange(len(key))
        wrong = {
            "insert": key[:at] + drawn.choice(letters) + key[at:],
            "delete": key[:at] + key[at + 1 :],
            "replace": key[:at] + drawn.choice(letters) + key[at + 1 :],
            "swap": key[:at] + key[at + 1 : at + 2] + key[at] + key[at + 2 :],
        }[drawn.choice(["insert", "delete", "replace", "swap"])]
        if wrong != key:
            return wrong
