"""The review: decided by keyboard alone, taken back, and told in place where somebody else was faster."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator
from pathlib import Path

import apsw
import pytest
from playwright.sync_api import Browser, Page, expect

from lean_memory import Memory
from lean_memory.domain import Fact
from lean_memory.maintenance.drafts import Draft
from lean_memory.proposals import BOTH, ProposalKind, SearchEffect
from lean_memory_bridge.schemas import ForgetRequest
from support.browser import Window, entered, opened
from support.service import ServiceProcess, start_service
from support.staged import stage

NAMESPACES = [f"review {number:02}" for number in range(14)]
TOLD = [
    "Clara works at Globex.",
    "Clara likes playing the cello.",
    "Clara likes playing the cello in a quartet.",
    "Clara likes hiking.",
    "Clara likes walking in the mountains.",
    "Clara has a cat called Tom.",
    "Otto collects stamps.",
    "Otto collects old stamps.",
    "Otto likes jazz.",
    "Otto likes modern jazz.",
    "Otto likes blue socks.",
]


def drafts(known: dict[str, Fact]) -> list[Draft]:
    """One proposal of each kind that a person decides in passing."""

    def found(*texts: str) -> tuple[Fact, ...]:
        return tuple(known[text] for text in texts)

    made = [
        (ProposalKind.MERGE, "Clara", ("Clara likes playing the cello in a quartet.", "Clara likes playing the cello."), {"cosine": 0.97}),
        (ProposalKind.MERGE, "Clara", ("Clara likes walking in the mountains.", "Clara likes hiking."), {"cosine": 0.96}),
        (
            ProposalKind.SUMMARY,
            "Clara",
            ("Clara works at Globex.", "Clara has a cat called Tom."),
            {"text": "Clara works at Globex and has a cat.", "lost": ("called Tom",)},
        ),
        (ProposalKind.MERGE, "Otto", ("Otto collects old stamps.", "Otto collects stamps."), {"cosine": 0.98}),
        (ProposalKind.CONFLICT, "Otto", ("Otto likes jazz.", "Otto likes modern jazz."), {"choices": ("jazz", "modern jazz", BOTH)}),
        (ProposalKind.DEMOTION, "Otto", ("Otto likes blue socks.",), {}),
    ]
    return [
        Draft(
            kind=kind,
            entity=entity,
            facts=found(*texts),
            reason="They say the same.",
            scores=(("confidence", 0.9),),
            effects=(SearchEffect(query="What does she play?", before=texts, after=texts[:1]),),
            **more,  # type: ignore[arg-type]
        )
        for kind, entity, texts, more in made
        if all(text in known for text in texts)
    ]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    folder = tmp_path_factory.mktemp("review")
    root = folder / "memory"
    with Memory(root=root) as memory:
        # What the page shows first; no test decides anything in it.
        memory.add("default", "I like tea.")
        for name in NAMESPACES:
            memory.add_many(name, [{"text": text} for text in TOLD])
    for name in NAMESPACES:
        assert stage(root, name, drafts) == 6
    started = start_service(root, folder / "service.log").wait_until_up()
    try:
        yield started
    finally:
        started.kill()


@pytest.fixture(scope="module")
def untouched() -> Iterator[str]:
    """Namespaces that no test has reviewed yet."""
    return iter(NAMESPACES)


@pytest.fixture
def namespace(untouched: Iterator[str]) -> str:
    return next(untouched)


def reviewing(window: Window, namespace: str) -> Page:
    window.go("review")
    page = window.page
    page.locator(".picker select").select_option(namespace)
    expect(page.locator(".card")).to_have_count(6)
    expect(page.locator(".card.chosen")).to_be_visible()
    return page


def choose(page: Page, kind: str) -> None:
    """Go down to the first proposal of a kind, with the keys as fast as they can be pressed."""
    for _ in range([kind in card for card in page.locator(".card").all_inner_texts()].index(True)):
        page.keyboard.press("j")
    expect(page.locator(".card.chosen")).to_contain_text(kind)


def texts(service: ServiceProcess, namespace: str) -> set[str]:
    return {fact.fact_text for fact in service.client().facts(namespace=namespace).facts}


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_the_whole_review_is_done_with_the_keyboard_alone(browser: Browser, service: ServiceProcess, namespace: str, locale: str) -> None:
    with entered(browser, service, locale=locale) as window:
        review_by_keyboard(reviewing(window, namespace), service, namespace)


def review_by_keyboard(page: Page, service: ServiceProcess, namespace: str) -> None:
    expect(page.locator(".card.chosen ins")).to_have_text(["old"])
    expect(page.locator(".card.chosen blockquote").first).to_contain_text("Otto collects old stamps.")
    page.keyboard.press("a")
    expect(page.locator(".card")).to_have_count(5)
    assert "Otto collects stamps." not in texts(service, namespace)
    page.keyboard.press("x")
    expect(page.locator(".card")).to_have_count(4)
    page.keyboard.press("z")
    expect(page.locator(".card")).to_have_count(5)


def test_a_key_is_heard_the_moment_the_cards_stand(window: Window, namespace: str) -> None:
    window.go("review")
    page = window.page
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    page.evaluate(
        """() => {
            new MutationObserver((_, watch) => {
                if (!document.querySelector('.card.chosen')) return;
                watch.disconnect();
                dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }));
            }).observe(document.body, { subtree: true, childList: true });
        }"""
    )
    page.get_by_label("Memory of").select_option(namespace)
    expect(page.locator(".card")).to_have_count(5)


def test_a_summary_is_approved_in_the_persons_words(window: Window, service: ServiceProcess, namespace: str) -> None:
    page = reviewing(window, namespace)
    choose(page, "Summary")
    expect(page.locator(".card.chosen")).to_contain_text("called Tom")
    page.keyboard.press("e")
    page.get_by_label("In your own words").fill("Clara works at Globex and has a cat called Tom.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".card").filter(has_text="Summary")).to_have_count(0)
    assert "Clara works at Globex and has a cat called Tom." in texts(service, namespace)


def test_a_contradiction_is_settled_by_a_number(window: Window, service: ServiceProcess, namespace: str) -> None:
    page = reviewing(window, namespace)
    choose(page, "contradict")
    page.keyboard.press("a")
    expect(page.locator(".card")).to_have_count(6)
    page.keyboard.press("2")
    expect(page.locator(".card")).to_have_count(5)
    assert "Otto likes modern jazz." in texts(service, namespace)


def test_keys_are_told_and_the_list_of_them_closes_again(window: Window, namespace: str) -> None:
    page = reviewing(window, namespace)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("undo the last decision")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_keys_are_heard_after_a_namespace_was_chosen_with_the_mouse(window: Window, namespace: str) -> None:
    window.go("review")
    page = window.page
    listed = page.get_by_label("Memory of")
    listed.click()
    for _ in range(1 + NAMESPACES.index(namespace)):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(listed).to_have_value(namespace)
    expect(page.locator(".card.chosen")).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator(".card").nth(1)).to_have_class("card chosen")


def test_a_proposal_shows_why_and_a_trifle_is_kept_for_good(window: Window, service: ServiceProcess, namespace: str) -> None:
    page = reviewing(window, namespace)
    card = page.locator(".card.chosen")
    card.get_by_text("Why, and where it comes from").click()
    expect(card.get_by_role("meter", name="certain")).to_be_visible()
    card.get_by_text("Changes the answer to 1 question").click()
    expect(card.locator(".effect")).to_contain_text("What does she play?")
    choose(page, "Rarely useful")
    page.keyboard.press("p")
    expect(page.locator(".card")).to_have_count(5)
    expect(page.get_by_text("Kept, and not suggested again.")).to_be_visible()
    assert "Otto likes blue socks." in texts(service, namespace)


def test_what_changed_since_is_told_in_place(window: Window, service: ServiceProcess, namespace: str) -> None:
    page = reviewing(window, namespace)
    # The page hears of nothing any more, as if the change came at the very moment of the decision.
    page.route("**/api/v1/review?*", lambda route: route.abort())
    client = service.client()
    gone = next(fact for fact in client.facts(namespace=namespace).facts if fact.fact_text == "Otto collects stamps.")
    client.forget(ForgetRequest(namespace=namespace, fact_id=gone.id))
    page.keyboard.press("a")
    expect(page.locator(".card.chosen .notice")).to_contain_text("may have been forgotten")


def test_what_is_safe_is_approved_at_once_and_taken_back_at_once(window: Window, service: ServiceProcess, namespace: str) -> None:
    page = reviewing(window, namespace)
    page.get_by_role("region", name="Clara").get_by_role("button", name="Accept 2 safe ones").click()
    expect(page.locator(".card")).to_have_count(4)
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text("2 decisions undone.")).to_be_visible()
    assert {"Clara likes playing the cello.", "Clara likes hiking."} <= texts(service, namespace)


def test_yesterdays_decision_is_found_and_taken_back(window: Window, service: ServiceProcess, namespace: str) -> None:
    page = reviewing(window, namespace)
    page.keyboard.press("a")
    expect(page.locator(".card")).to_have_count(5)
    page.keyboard.press("x")
    expect(page.locator(".card")).to_have_count(4)
    page.reload()
    page.get_by_label("Memory of").select_option(namespace)
    page.get_by_role("button", name="Decided").click()
    expect(page.locator(".item").filter(has_text="left as it was").get_by_role("button", name="Undo")).to_be_visible()
    page.get_by_role("button", name="Undo: Otto collects").click()
    expect(page.locator(".item").filter(has_text="undone")).to_be_visible()
    assert "Otto collects stamps." in texts(service, namespace)


def test_two_pages_see_each_others_decisions_and_say_so_in_place(browser: Browser, service: ServiceProcess, namespace: str) -> None:
    with entered(browser, service) as one:
        first, second = reviewing(one, namespace), reviewing(opened(one.page.context, service), namespace)
        first.keyboard.press("a")
        expect(first.locator(".card")).to_have_count(5)
        expect(second.locator(".card.chosen")).to_contain_text("Already decided elsewhere: accepted.")
        second.keyboard.press("j")
        expect(second.locator(".card")).to_have_count(5)


def test_a_run_is_looked_at_first_and_done_on_a_second_word(window: Window, namespace: str) -> None:
    page = reviewing(window, namespace)
    page.locator("header").get_by_role("button", name="Tidy up now…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("This would happen")
    dialog.get_by_role("button", name="Do it").click()
    expect(dialog).to_contain_text("This was done")


@contextlib.contextmanager
def written_to(file: Path) -> Generator[None]:
    """Somebody else writes to a namespace's file, so that whoever wants to write waits, until the block ends."""
    with contextlib.closing(apsw.Connection(str(file))) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


def test_a_run_is_stopped_and_the_page_says_so(window: Window, service: ServiceProcess) -> None:
    window.go("review")
    page = window.page
    page.locator("header").get_by_role("button", name="Tidy up now…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("This would happen")
    with written_to(service.root / "default.memory.db"):
        dialog.get_by_role("button", name="Do it").click()
        with page.expect_request("**/maintenance/cancel"):
            dialog.get_by_role("button", name="Stop").click()
        # Whoever asks later is answered later: after these the service has heard that it is to stop.
        for _ in range(3):
            page.wait_for_event("response", lambda response: "/maintenance/jobs/" in response.url)
    expect(dialog).to_contain_text("The run was stopped")


def test_what_was_put_away_is_brought_back(window: Window, service: ServiceProcess, namespace: str) -> None:
    page = reviewing(window, namespace)
    choose(page, "Rarely useful")
    page.keyboard.press("a")
    expect(page.locator(".card")).to_have_count(5)
    assert "Otto likes blue socks." not in texts(service, namespace)
    window.go("memories")
    page.get_by_label("also what is put away").check()
    page.get_by_role("button", name="Otto likes blue socks.").click()
    page.get_by_role("button", name="Bring back").click()
    expect(page.get_by_text("It is back, and will not be put away again.")).to_be_visible()
    expect(page.get_by_role("button", name="Bring back")).to_have_count(0)
    assert "Otto likes blue socks." in texts(service, namespace)
