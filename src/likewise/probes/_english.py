"""A random state in; ordinary English sentences of many topics and moods, out."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from string import Formatter

__all__ = ["posts", "sentence", "sentences", "text_of"]

_WORDS = {
    slot: words.split("|")
    for slot, words in {
        "who": "my neighbour|the teacher|our doctor|a young engineer|the old captain|"
        "her brother|the mayor|a tired nurse|the new manager|his grandmother|"
        "the librarian|a Spanish tourist|the winning team|our landlord|the referee",
        "name": "Anna|Mr. Okafor|Lucía|Professor Chen|Tom|Mrs. Novak|Aisha|Erik|Dr. Patel|Yuki|"
        "Captain O'Neill|Fatima",
        "thing": "the kitchen table|a broken phone|the last chapter|their garden|an old map|"
        "the red bicycle|a cup of coffee|the contract|the spare key|a wool sweater|"
        "the violin|a heavy suitcase|the telescope|the umbrella",
        "product": "laptop|vacuum cleaner|pair of headphones|backpack|camera|office chair|toaster|"
        "novel|mattress|board game|rain jacket|electric kettle",
        "place": "Lisbon|the train station|a small village|the museum|northern Norway|"
        "the city centre|Nairobi|the harbour|Buenos Aires|the mountains|the office|"
        "the hospital|an island",
        "time": "yesterday|last week|in 1998|every morning|this afternoon|in the winter|"
        "two years ago|on Friday|before dawn|after the meeting|at midnight",
        "did": "forgot|repaired|carried|sold|found|described|borrowed|lost|"
        "refused to give back|painted|dropped|admired",
        "good": "excellent|delicious|surprisingly good|brilliant|comfortable|a real delight|"
        "worth every cent|better than I had hoped|beautiful",
        "bad": "terrible|boring|far too expensive|broken on arrival|a waste of money|"
        "disappointing|painfully slow|the worst of the year|rude",
        "show": "film|concert|restaurant|hotel|second season|lecture|exhibition|football match|"
        "soup|service",
        "field": "physics|medicine|economics|history|biology|law|linguistics|astronomy|"
        "chemistry|geology",
        "fact": "light travels faster than sound|the heart pumps blood through the body|"
        "prices rise when supply falls|whales are mammals|iron rusts in wet air|"
        "the moon causes the tides|bees cannot see red|copper conducts heat well|"
        "the river flows into the sea|glass is made from sand",
        "market": "shares|oil prices|the euro|government bonds|house prices|interest rates|"
        "exports|wages|gold",
        "moved": "rose sharply|fell by 3 percent|hardly changed|recovered|collapsed|"
        "reached a record high|kept falling|doubled",
        "coin": "Bitcoin|Ethereum|$BTC|$ETH|Solana|Dogecoin|$XRP|this altcoin|Cardano|"
        "the whole market",
        "mood": "is going to the moon|looks bearish to me|is a scam|will crash again|"
        "broke resistance|is undervalued|dumped 20% overnight|is just moving sideways|"
        "surges on ETF news|has no future|is a buy",
        "advice": "HODL|sell now|do your own research|buy the dip|not financial advice|I am out|"
        "never invest what you cannot lose|just wait|load up",
        "reason": "because it was raining|although nobody asked|since the road was closed|"
        "without a word|so that everyone could hear|because the money was gone|"
        "even though it was late|as soon as the bell rang|to save time",
    }.items()
}  # fmt: skip
_PLAIN = (
    "{who} {did} {thing} {time}.",
    "{name} {did} {thing} {reason}.",
    "{time}, {who} {did} {thing} near {place}.",
    "{name} never {did} {thing}, and {who} knows it.",
    "Why has {name} not come back from {place}?",
    "Did {who} really say that {fact}?",
    "{who} does not believe that {fact}.",
    "In {field}, students learn that {fact}.",
    "It is not true that {who} {did} {thing}; {name} {did} it.",
    "The {show} in {place} was {good}.",
    "The {show} was not {good}; it was {bad}.",
    "I bought this {product} {time} and it is {good}!",
    "Do not buy this {product}, it is {bad}.",
    "I expected the {product} to be {bad}, but it turned out to be {good}.",
    "{market} {moved} {time}, while {market} {moved}.",
    "Analysts say {market} {moved} {reason}.",
    "There are {n} people in {place}, and {m} of them speak {field}.",
    "The bus to {place} leaves at {hour}:{minute} and costs {m} euros.",
    "Please send {thing} to {name} in {place} {time}.",
    "How many times has {who} visited {place}, {n} or {m}?",
    '"{fact}," said {name}, "and that is all."',
    "When {market} {moved}, {who} {did} {thing} at once.",
    "{name} studied {field} in {place} {reason}, but {who} did not.",
    "No, I have not seen {thing}; ask {who}.",
    "{who} lives {n} miles from {place} and walks to work {reason}.",
    "The judge asked {name} whether {who} {did} {thing} {time}.",
    "We could hear {who} singing in {place} {time}.",
    "Nothing about the {show} was {bad}, yet {name} left {reason}.",
)
_POSTS = (
    "{coin} {mood}!",
    "{coin} {mood}, {advice}",
    "just bought {n} more, {coin} {mood}",
    "is it only me or {coin} {mood}? {advice}",
    "{coin} at ${n},{big} and {coin} {mood} lol",
    "{advice}. {coin} {mood} and {market} {moved}",
    "my {product} mining rig made ${m} {time}, {coin} {mood}",
    "RT @trader{n}: {coin} {mood} #{field} #crypto",
    "they said {coin} {mood}... well, {market} {moved}",
    "unpopular opinion: {coin} {mood}. {advice}!!",
)


def sentence(random: Random) -> str:
    """Return one sentence of 5 to 25 words."""
    return _fill(random.choice(_PLAIN), random)


def sentences(random: Random) -> Iterator[str]:
    """Yield sentences without end, one or two at a time."""
    while True:
        yield " ".join(sentence(random) for _ in range(random.choice((1, 1, 2))))


def posts(random: Random) -> Iterator[str]:
    """Yield short posts about the market for coins, without end."""
    while True:
        yield _fill(random.choice(_POSTS), random)


def text_of(words: int, random: Random) -> str:
    """Return sentences of that many words together, the last one cut short."""
    parts: list[str] = []
    while len(parts) < words:
        parts += sentence(random).split()
    return " ".join(parts[:words])


def _fill(pattern: str, random: Random) -> str:
    numbers = {
        "n": str(random.randint(2, 99)),
        "m": str(random.randint(3, 900)),
        "big": str(random.randint(100, 999)),
        "hour": str(random.randint(1, 23)),
        "minute": f"{random.randint(0, 59):02}",
    }
    filled = "".join(
        text + (numbers.get(slot) or random.choice(_WORDS[slot]) if slot else "")
        for text, slot, _, _ in Formatter().parse(pattern)
    )
    return filled[0].upper() + filled[1:]
