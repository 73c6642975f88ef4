"""Many nights in a row: nothing pinned or recalled is lost, and MEMORY.md stays small.

Short ones; ``benchmarks/reflection.py --nights`` runs whole years.
"""

from fakes import memory
from memory.tending.reflection.nights import Daily, Page, promoting
from shelfd.memory.tending.promotion import Promoter


async def test_nothing_pinned_or_recalled_is_lost_over_a_month() -> None:
    async with memory() as api:
        daily = Daily(api, vocabulary=150)
        await daily.write(150)
        for night in range(30):
            await daily.write(6)
            await daily.ask(4, f"day-{night}")
            await daily.night(night)

        assert daily.lost == []
        assert daily.pinned_lost() == []
        assert daily.changes > 200
        assert daily.asked == 120


async def test_memory_md_stays_inside_its_budget() -> None:
    async with memory() as api:
        page = Page()
        api.service.promoter = Promoter(page, budget_tokens=400)
        results = await promoting(api, page, nights=60, per_night=2)

    assert max(result["characters"] for result in results) <= 4 * 400
    assert results[-1]["characters"] > 3 * 400
    assert results[-1]["fell_out"] > 50
