"""The page of the memory: looked through, asked, corrected, forgotten, compared with other days, in a real browser."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from support.browser import Window, entered, opened
from support.service import ServiceProcess, running_service, start_service
from support.staged import DAY

CHINESE = {
    "tell": "告诉它一件事",
    "what": "要记住什么？",
    "correct": "更正这条…",
    "right": "正确的是什么？",
    "forget": "忘记这条…",
    "erase": "永久忘记",
}
"""What the buttons and fields are called."""
HOSTILE = [
    "My note is <script>window.broken = 1</script>.",
    "My friend <img src=x onerror=window.broken=1> likes tea.",
    "My page is [click](javascript:window.broken=1).",
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    with running_service(tmp_path_factory.mktemp("window")) as started:
        client, now = started.client(), time.time_ns() // 1_000_000
        client.add("I live in Porto.", t_ref=now - 200 * DAY)
        client.add("I moved to Lisbon.", t_ref=now - 20 * DAY)
        client.add("Clara works at Globex.", t_ref=now - 100 * DAY)
        client.add("I do not eat shellfish.", t_ref=now - 50 * DAY)
        yield started


def test_a_browser_that_was_not_let_in_gets_a_friendly_sentence(browser: Browser, service: ServiceProcess) -> None:
    page = browser.new_page(locale="en-GB")
    page.goto(service.live.address)
    expect(page.get_by_role("heading")).to_have_text("This browser has not been let in")
    expect(page.locator("body")).to_contain_text("lean-memory open")
    expect(page.locator("body")).not_to_contain_text("Porto")
    page.goto(f"{service.live.address}/#code=wrong")
    expect(page.locator("body")).to_contain_text("This link was used before or is too old")
    page.context.close()


def test_the_code_leaves_the_address_and_the_browser_stays_in(window: Window) -> None:
    assert "code" not in window.page.url
    window.page.goto(window.address)
    expect(window.page.get_by_role("heading", name="Memories")).to_be_visible()
    assert "lean_memory_window" not in window.page.evaluate("document.cookie")


def test_facts_are_found_by_whom_they_are_about_and_by_their_words(window: Window) -> None:
    page = window.page
    page.get_by_title("Clara").click()
    expect(page.locator(".fact .said")).to_have_text(["Clara works at Globex."])
    page.get_by_role("button", name="Everything").click()
    page.get_by_label("Filter by words").fill("shellfish")
    expect(page.locator(".fact .said")).to_have_text(["I do not eat shellfish."])


def test_an_open_fact_shows_how_it_came_to_be_with_the_sentences(window: Window) -> None:
    page = window.page
    page.get_by_role("button", name="I moved to Lisbon.").click()
    chain = page.get_by_role("list", name="History")
    expect(chain.locator(".value")).to_have_text(["Lisbon", "Porto"])
    expect(chain.locator("blockquote")).to_have_text(["I moved to Lisbon.", "I live in Porto."])
    expect(chain).to_contain_text("replaced by something newer")


def test_a_question_is_answered_as_an_assistant_would_be_and_says_why(window: Window) -> None:
    page = window.page
    page.get_by_label("Ask your memory a question").fill("Where do I live?")
    page.keyboard.press("Enter")
    expect(page.locator(".answers .said").first).to_have_text("I moved to Lisbon.")
    page.get_by_text("Why this one").first.click()
    expect(page.get_by_role("meter", name="fits the question").first).to_be_visible()
    expect(page.locator(".why").first).to_contain_text("by meaning")


def test_a_fact_is_corrected_in_the_persons_words(window: Window, service: ServiceProcess) -> None:
    page = window.page
    page.get_by_role("button", name="Clara works at Globex.").click()
    page.get_by_role("button", name="Correct this…").click()
    page.get_by_label("What is right?").fill("Clara now works at Initrode.")
    page.get_by_role("dialog").get_by_role("button", name="Correct", exact=True).click()
    expect(page.get_by_role("status").filter(has_text="Corrected.")).to_be_visible()
    expect(page.locator(".fact .said").filter(has_text="Initrode")).to_be_visible()
    assert [fact.object for fact in service.client().facts(subject="Clara").facts] == ["Initrode"]


def test_forgetting_shows_exactly_what_goes_before_it_goes(window: Window, service: ServiceProcess) -> None:
    service.client().add("My door has a red handle.")
    page = window.page
    page.get_by_role("button", name="My door has a red handle.").click()
    page.get_by_role("button", name="Forget this…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(".erased li")).to_have_text(["My door has a red handle."])
    dialog.get_by_role("button", name="Forget for good").click()
    expect(dialog).to_be_hidden()
    expect(page.locator(".fact").filter(has_text="handle")).to_have_count(0)
    assert not [fact for fact in service.client().facts().facts if "handle" in fact.fact_text]


def test_how_much_is_forgotten_is_chosen_with_the_texts_in_sight(window: Window, service: ServiceProcess) -> None:
    service.client().add("Wilma has a boat called Nora. Wilma likes sailing.")
    page = window.page
    page.get_by_role("button", name="Wilma likes sailing.").click()
    page.get_by_role("button", name="Forget this…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(".erased li")).to_have_text(["Wilma likes sailing."])
    dialog.get_by_role("button", name="Everything about Wilma").click()
    expect(dialog.locator(".erased")).to_contain_text("Nora")
    dialog.get_by_role("button", name="Keep it").click()
    expect(dialog).to_be_hidden()
    assert service.client().facts(subject="Wilma").facts


def test_what_was_before_is_shown_on_demand(window: Window) -> None:
    page = window.page
    former = page.locator(".fact .said").filter(has_text="I live in Porto.")
    expect(page.locator(".fact .said").filter(has_text="I moved to Lisbon.")).to_be_visible()
    expect(former).to_have_count(0)
    page.get_by_label("what was before").check()
    expect(former).to_be_visible()


def test_text_from_memory_is_never_html(window: Window, service: ServiceProcess) -> None:
    client, page = service.client(), window.page
    for text in HOSTILE:
        client.add(text, namespace="<img src=x onerror=window.broken=1>")
    page.get_by_label("Memory of").select_option("<img src=x onerror=window.broken=1>")
    for text in HOSTILE:
        expect(page.locator(".fact .said").filter(has_text=text).first).to_be_visible()
    page.locator(".fact .row").first.click()
    expect(page.locator(".chain")).to_be_visible()
    assert page.locator("main script, main img, main a").count() == 0
    assert page.evaluate("window.broken") is None
    client.clear("<img src=x onerror=window.broken=1>")


def test_the_policy_of_the_page_blocks_inline_script(browser: Browser, service: ServiceProcess) -> None:
    page = browser.new_page()
    page.goto(service.live.address)
    page.evaluate("() => { const one = document.createElement('script'); one.append('window.broken = 1'); document.body.append(one); }")
    assert page.evaluate("window.broken") is None
    refused: str = page.evaluate("() => { try { document.body.innerHTML = '<b>x</b>'; return ''; } catch (error) { return error.name; } }")
    assert refused == "TypeError"
    page.context.close()


def test_another_day_stands_beside_now(window: Window) -> None:
    window.go("time")
    page = window.page
    day = time.strftime("%Y-%m-%d", time.localtime(time.time() - 150 * 86_400))
    page.get_by_label("Day").fill(day)
    row = page.locator(".then-now tr").filter(has_text="Porto")
    expect(row.locator("td").first).to_contain_text("I live in Porto.")
    expect(row.locator("td").nth(1)).to_contain_text("I moved to Lisbon.")
    page.get_by_role("button", name="What was known").click()
    expect(page.get_by_role("columnheader", name="Known then")).to_be_visible()
    expect(page.locator(".then-now tr").filter(has_text="Clara").locator("td").first).to_contain_text("nothing")


def test_the_line_of_time_is_walked_with_the_arrow_keys(window: Window) -> None:
    window.go("time")
    page = window.page
    slider = page.get_by_role("slider", name="Moment")
    slider.press("End")
    expect(page.get_by_role("heading", name="Nothing changed since then")).to_be_visible()
    slider.press("Home")
    expect(page.locator(".then-now tr").filter(has_text="Porto").locator("td").nth(1)).to_contain_text("I moved to Lisbon.")
    slider.press("ArrowRight")
    expect(slider).to_have_value("1")


def test_two_pages_see_each_others_words(browser: Browser, service: ServiceProcess) -> None:
    with entered(browser, service) as one:
        other = opened(one.page.context, service)
        one.page.get_by_role("button", name="Tell it something").click()
        one.page.get_by_label("What should be remembered?").fill("My dog is called Biscuit.")
        one.page.keyboard.press("Control+Enter")
        expect(one.page.locator(".fact .said").first).to_have_text("My dog is called Biscuit.")
        expect(other.page.locator(".fact .said").first).to_have_text("My dog is called Biscuit.")


def test_a_restart_of_the_service_is_told_and_loses_no_half_written_edit(browser: Browser, tmp_path: Path) -> None:
    with running_service(tmp_path) as first, contextlib.ExitStack() as stack:
        first.client().add("I live in Porto.")
        page = stack.enter_context(entered(browser, first)).page
        page.get_by_role("button", name="I live in Porto.").click()
        page.get_by_role("button", name="Correct this…").click()
        page.get_by_label("What is right?").fill("I now live in Évora, half wr")
        first.kill()
        expect(page.get_by_text("what you wrote is kept here")).to_be_visible()
        second = start_service(first.root, tmp_path / "second.log").wait_until_up()
        try:
            expect(page.get_by_text("The memory service is back.")).to_be_visible()
            expect(page.get_by_label("What is right?")).to_have_value("I now live in Évora, half wr")
            page.reload()
            expect(page.get_by_label("What is right?")).to_have_value("I now live in Évora, half wr")
            page.get_by_label("What is right?").fill("I now live in Évora.")
            page.keyboard.press("Control+Enter")
            expect(page.locator(".fact .said").first).to_have_text("I now live in Évora.")
        finally:
            second.kill()


def test_the_first_run_takes_three_steps_and_gives_a_sentence_back(browser: Browser, tmp_path: Path) -> None:
    with running_service(tmp_path) as fresh, entered(browser, fresh) as window:
        page = window.page
        expect(page.get_by_role("heading", name="Welcome")).to_be_visible()
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_role("heading", name="Connect your assistants")).to_be_visible()
        page.get_by_role("button", name="Next").click()
        page.get_by_label("What should be remembered?").fill("I work at Acme as a designer.")
        page.keyboard.press("Enter")
        expect(page.locator("blockquote.said")).to_have_text("I work at Acme as a designer.")
        page.get_by_role("button", name="Open my memory").click()
        expect(page.locator(".fact .said").first).to_contain_text("Acme")


def test_telling_correcting_and_forgetting_in_chinese(browser: Browser, service: ServiceProcess) -> None:
    with entered(browser, service, locale="zh-CN") as window:
        page = window.page
        page.get_by_role("button", name=CHINESE["tell"]).click()
        page.get_by_role("textbox", name=CHINESE["what"]).fill("Ulla lives in Graz.")
        page.keyboard.press("Control+Enter")
        page.get_by_role("button", name="Ulla lives in Graz.").click()
        page.get_by_role("button", name=CHINESE["correct"]).click()
        page.get_by_role("textbox", name=CHINESE["right"]).fill("Ulla moved to Linz.")
        page.keyboard.press("Control+Enter")
        page.get_by_role("button", name="Ulla moved to Linz.").click()
        page.get_by_role("button", name=CHINESE["forget"]).click()
        page.get_by_role("dialog").get_by_role("button", name=CHINESE["erase"]).click()
        expect(page.get_by_role("dialog")).to_be_hidden()
        expect(page.locator(".fact .said").filter(has_text="Linz")).to_have_count(0)


def test_the_page_speaks_chinese(browser: Browser, service: ServiceProcess) -> None:
    with entered(browser, service, locale="zh-CN") as window:
        expect(window.page.get_by_role("heading", name="记忆")).to_be_visible()
        assert window.page.evaluate("document.documentElement.lang") == "zh-Hans"
        window.page.get_by_label("向你的记忆提问").fill("Where do I live?")
        window.page.keyboard.press("Enter")
        expect(window.page.locator(".answers .said").first).to_contain_text("Lisbon")
        window.go("settings")
        window.page.get_by_role("button", name="English").click()
        expect(window.page.get_by_role("heading", name="Settings")).to_be_visible()


def test_an_assistant_is_paused_with_its_switch_and_its_calls_are_seen_at_once(window: Window, service: ServiceProcess) -> None:
    page = window.page
    service.client("my-script").search("Where do I live?")
    window.go("assistants")
    row = page.locator(".assistant").filter(has=page.get_by_role("heading", name="my-script"))
    expect(row).to_contain_text("today")
    row.get_by_role("switch", name="my-script may use the memory").click()
    expect(row).to_contain_text("Paused")
    assert [client.paused for client in service.client().clients() if client.name == "my-script"] == [True]
    row.get_by_role("switch").click()
    expect(row.get_by_role("switch")).to_be_checked()
    window.go("activity")
    expect(page.locator(".feed li").first).to_contain_text("my-script")
    before = page.locator(".feed li").count()
    service.client("my-script").search("And my dog?")
    expect(page.locator(".feed li")).to_have_count(before + 1)
