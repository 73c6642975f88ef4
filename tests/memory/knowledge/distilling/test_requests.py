"""Requests are no facts, and statements that leave their subject out are: both begin with a verb."""

import pytest

from shelfd.memory.knowledge.distilling.facts import facts_by_rules

REQUESTS = """
Send me the file.
Remind me to call Bob tomorrow.
Write a poem about cats for me.
Give me the latest numbers.
Book a table for two.
Book a table for two at Luigi's at eight.
Please send me the report.
Can you send me the report
Now send me the file.
Then give us the numbers again.
Write a short poem about cats.
Draft an email to Ida.
Draft a reply to the landlord.
Translate this sentence into German.
Summarize the report in three lines.
Explain the second rule to me.
Explain it once more.
Show me the pictures of May.
Let me know when it is done.
Look up the train times.
Find out who owns the boat.
Find a hotel near the station.
Create a table of all members.
Make a list of the tools.
Make me a sandwich.
Turn off the lights in the hall.
Play some music.
Order two pizzas.
Schedule a meeting with Ida on Monday.
Cancel my appointment.
Recommend a book on birds.
Generate a password for the router.
Calculate the area of the roof.
Compare the two offers.
List all members of the club.
Send the invoice to Ida.
Get me a coffee.
Help me with the form.
Wake me at six.
Tell us about the trip.
I need you to send the file.
Schick mir die Datei.
Gib mir bitte die Zahlen.
Schreib mir ein Gedicht über Katzen.
Erinnere mich daran, Bob anzurufen.
Zeigen Sie mir die Rechnung.
Mándame el archivo ahora.
Recuérdame llamar a Bob mañana.
Escríbeme un poema corto.
Envoie-moi le fichier complet.
Rappelle-moi d'appeler Bob demain.
请把文件发给我。
帮我写一首诗。
提醒我明天打电话。
ファイルを送ってください。
"""
STATEMENTS = """
Lives in Ghent.
Moved to Ghent in May.
Likes tea with milk.
Take aspirin daily.
Take two tablets after meals.
Water the fern on Sundays.
Call me Al.
Remember that I am allergic to nuts.
Note that the door sticks.
Keep in mind that Ida is deaf.
Use tabs, not spaces.
Answer me in German.
Reply in German from now on.
Send me the report every Monday.
Always send me the report as a PDF.
Never give Rex chocolate.
Give Rex his pill at eight.
Give the dog two tablets with food.
Send invoices to Ida.
Book club meets on Monday.
Books are in the attic.
Order 4711 shipped on May 3.
Order of the day is silence.
List prices rose by five percent.
Draft beer costs five euros.
Schedule changes take effect in May.
Write access is granted to Ida.
Send button is broken on mobile.
Find the city noisy and crowded.
Make the bed with the blue sheets.
Makes furniture in Ghent.
Teach a class on Mondays.
Run a bakery in Ghent.
Play the piano and the flute.
Read the book in May.
Set the alarm to six.
Let the dough rest for an hour.
Show times are at eight.
Help desk is open until six.
Get well soon cards are in the drawer.
Design review is on Friday.
Plan a trip to Rome in May.
Text messages are kept for a year.
Compare prices before buying tyres.
Translate books for a living.
Draw the curtains at night.
Keep the receipts for ten years.
Sold the boat to Ida.
Works for a bank in Ghent.
Hates being called Bobby.
Prefers an aisle seat.
Turn left at the mill.
Forward gears are worn out.
Cancelled the trip to Rome.
Need a new roof by spring.
Want to learn Dutch this year.
Schreibe ein Buch über Mühlen.
Wohne in Gent seit Mai.
Suche mir eine Wohnung in Gent.
Nehme täglich Aspirin.
Escribe un libro sobre molinos.
Vive en Gante desde mayo.
他住在根特。
请假三天去东京。
彼は東京に住んでいる。
"""


def said(text: str) -> list[str]:
    return [fact.text for fact in facts_by_rules(text) if fact is not None]


@pytest.mark.parametrize("text", REQUESTS.strip().splitlines())
def test_what_the_reader_is_asked_to_do_once_is_no_fact(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize("text", STATEMENTS.strip().splitlines())
def test_a_statement_without_a_subject_or_an_instruction_for_good_is_one(text: str) -> None:
    assert said(text) == [text]


def test_a_request_among_statements_takes_nothing_with_it() -> None:
    text = "Ida moved to Ghent in May. Send me the file. She likes tea with milk."
    assert said(text) == ["Ida moved to Ghent in May. She likes tea with milk."]
