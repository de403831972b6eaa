// The page in English. A function where something is filled in.

const some = (count, one, many = `${one}s`) => `${count} ${Number(count) === 1 ? one : many}`;

export const en = {
  // pages and frame
  review: 'Review', memories: 'Memories', time: 'Time', assistants: 'Assistants', models: 'Models', activity: 'Activity', settings: 'Settings',
  pages: 'Pages', menu: 'Menu', skip: 'Skip to the content', loading: 'One moment…', close: 'Close', cancel: 'Cancel', dismiss: 'Dismiss', details: 'Details', seen: 'All right',
  entering: 'Opening your memory…', lost: 'The memory service does not answer at the moment. Trying again; what you are writing is kept.', back: 'The memory service is back.',
  outside: 'This browser has not been let in', outside_why: 'Your memory opens only for a browser that you let in yourself, so that no other page or program can read it.',
  outside_how: 'Open it from the tray, or type this in a terminal; it opens the page with a link that works once:',
  unreachable: 'The memory service did not answer. It is being tried again.', waiting: (n) => `${some(n, 'proposal')} waiting`, just_now: 'just now',
  namespace: 'Memory of', you: 'You', none: 'nothing', now: 'Now',
  // memories
  memories_about: 'Everything that is remembered, with the sentence it came from.', tell_something: 'Tell it something', ask: 'Ask what is remembered, as an assistant would', ask_do: 'Ask',
  nothing_known: 'Nothing is remembered here yet', nothing_known_about: 'Tell it something, or connect an assistant that does.', none_fit: 'Nothing fits that.',
  facts: 'Facts', everything: 'Everything', about_whom: 'About', filter: 'Filter by words', with_history: 'what was before', with_cold: 'what is put away',
  fact_count: (shown, n) => `${shown} ${n === 1 ? 'fact' : 'facts'}`, more: (left) => `Show more (${left} left)`, narrow_down: (total) => `These are the 500 newest of ${total}. Filter by words or choose whom it is about to see the others.`,
  put_away: 'put away', no_longer: 'no longer', steering: 'tries to steer assistants; kept as mere text', correct: 'Correct…', forget: 'Forget…',
  history: 'History', since: (when) => `since ${when}`, from_to: (from, to) => `${from} – ${to}`, on_day: (when) => `on ${when}`, said_on: (when) => `said of ${when}`, planned_for: (when) => `planned for ${when}`,
  learned: (when) => `learned ${when}`, confirmed: (n, when) => `said again ${n === 1 ? 'once' : `${n} times`}, last ${when}`,
  reason_superseded: 'replaced by something newer', reason_corrected: 'corrected', reason_retracted: 'taken back', reason_ended: 'over', reason_forgotten: 'what followed was erased', reason_duplicate: 'said twice', reason_outdated: 'outdated', reason_merged: 'put together with the same thing',
  answers: 'Answers', answers_found: (n) => `An assistant would be told ${some(n, 'thing')}, best first.`, answers_none: 'Nothing is known about that. An assistant would be told so; these come nearest.', nothing_like_it: 'Nothing comes near.', back_to_all: 'Back to everything',
  degraded: 'The models were not ready, so only words were compared.', why: 'Why this one', relevance: 'fits the question', recency: 'is recent', importance: 'matters', weak: 'Tells little about the question.',
  by_words: (rank) => `no. ${rank} by words`, by_meaning: (rank) => `no. ${rank} by meaning`,
  // telling, correcting, forgetting
  tell_title: 'Tell it something', tell_label: 'What should be remembered?', tell_hint: 'In your own words, as you would tell a person. Ctrl+Enter sends.', tell_do: 'Remember',
  told: (n) => (n ? `Remembered, ${some(n, 'fact')}.` : 'Kept as you said it.'), told_known: 'It knew that already, and noted that you said it again.', told_kept: 'Kept as you said it.', told_queued: 'Taken; it is being worked through.', told_withheld: 'Not learned, as you had this forgotten before.',
  told_redacted: (n) => `${some(n, 'secret')} left out; passwords and keys are never kept.`,
  correct_title: 'Correct', correct_about: 'Now it says:', correct_label: 'What is right?', correct_hint: 'The old statement stays in the history. Ctrl+Enter sends.', correct_do: 'Correct', corrected: 'Corrected. What it said before is in the history.',
  corrected_beside: 'Remembered, but beside the old statement: it was not seen to contradict it.', forget_old: 'Forget the old one…', draft_kept: 'The service does not answer; what you wrote is kept here.',
  forget_title: 'Forget', forget_reach: 'How much', forget_fact: 'Only this', forget_episode: 'All of that message', forget_entity: (name) => `Everything about ${name}`, forget_texts: (n) => `This will be erased, ${some(n, 'text')}:`,
  forget_about: 'It is erased to the last byte, cannot be brought back, and the same sentence is not learned again.', keep_it: 'Keep it', forget_do: 'Erase for good', forgotten: (n) => `Forgotten: ${some(n, 'fact')}.`, forgotten_copies: (n) => `${some(n, 'older copy', 'older copies')} of the file may still hold it.`,
  // review
  review_about: 'Suggestions from tidying up, safest first. Nothing changes until you say so.', tidy: 'Tidy up now…', waiting_tab: (n) => `Waiting (${n})`, decided_tab: 'Decided',
  keys_hint: 'With the keyboard: j and k to move, a to approve, x to keep.', keys: 'All keys', key_j: 'next', key_k: 'previous', key_a: 'approve', key_x: 'keep as it is', key_e: 'edit, then approve', key_p: 'keep and never suggest again', key_number: 'choose that answer', key_z: 'take back the last decision', key_help: 'this list',
  proposal_count: (n) => some(n, 'proposal'), approve_safe: (n) => `Approve ${n} safe ones`, approve: 'Approve', reject: 'Keep as it is', edit_approve: 'Edit, then approve', approve_edited: 'Approve this wording', edit_label: 'In your own words', promote: 'Keep always',
  approve_merge: 'Put together', reject_merge: 'Keep both', approve_demotion: 'Put away', reject_demotion: 'Keep', approve_forget: 'Erase for good', reject_forget: 'Keep it',
  kind_merge: 'Same thing said twice', kind_summary: 'Summary', kind_demotion: 'Rarely useful', kind_conflict: 'Two that contradict', kind_same_entity: 'Perhaps the same', kind_forget: 'Asked to be forgotten',
  alike: (value) => `alike ${value}`, stays: 'Stays', goes: 'Goes to history', lost_detail: 'No longer said:', same_entity: (one, other) => `Are “${one}” and “${other}” the same?`, choice_both: 'Both are right', choice_same: 'The same', choice_different: 'Different', choice_neither: 'Neither', choice_yes: 'Yes', choice_no: 'No',
  effects: (n) => `${some(n, 'search', 'searches')} would answer otherwise`, before: 'before', after: 'after', said_to: (who, when) => (who ? `told ${who}, ${when}` : `told ${when}`),
  score_confidence: 'certain', score_cosine: 'alike', score_usefulness: 'useful', score_safety: 'safe', score_coverage: 'covers the sources',
  decided_approve: 'Approved.', decided_reject: 'Kept as it is.', decided_edit: 'Approved in your words.', decided_promote: 'Kept, and not suggested again.', decided_choose: 'Decided.', approved_many: (n) => `${some(n, 'proposal')} approved.`,
  undo: 'Undo', undone: 'Taken back.', undone_many: (n) => `${some(n, 'decision')} taken back.`, nothing_to_undo: 'There is nothing to take back on this page. “Decided” has earlier decisions.', outcome_conflict: 'Already decided elsewhere; nothing was done.', outcome_stale: 'What it speaks of has changed since; nothing was done.', outcome_refused: 'That could not be done; nothing was changed.', outcome_declined: 'Not confirmed; nothing was done.',
  decided_elsewhere: (state) => `Already decided elsewhere: ${state}.`, state_pending: 'waiting', state_approved: 'approved', state_rejected: 'kept as it was', state_expired: 'lapsed', state_stale: 'out of date', state_reverted: 'taken back', state_withdrawn: 'withdrawn',
  nothing_waits: 'Nothing waits for you', next_run: (when) => `The next tidying is ${when}.`, next_none: 'No tidying is planned while only this service runs; you can start one here.', next_paused: 'The nightly tidying is paused.', last_run: (when) => `Last: ${when}.`,
  tidy_title: 'Tidy up', tidy_about: 'First a look that changes nothing. What is certain can then be done; whatever is not waits for you here.', tidy_looking: 'Looking…', tidy_running: 'Tidying…', tidy_stop: 'Stop', tidy_apply: 'Do it', tidy_would: 'This would happen', tidy_did: 'This was done',
  tidy_facts: (n) => `${some(n, 'fact')} looked at`, tidy_merged: (n) => `${some(n, 'exact duplicate')} put together`, tidy_demoted: (n) => `${n} put away as hardly useful`, tidy_proposed: (kind, n) => `for you to decide: ${n} × ${kind}`, tidy_held_back: (n) => `${n} more for another time`,
  nothing_decided: 'Nothing was decided yet', runs: 'Tidying', run_done: 'done', run_failed: 'failed', run_cancelled: 'stopped', run_abandoned: 'broken off', run_running: 'running', reverted: 'Taken back.',
  // time
  time_about: 'Go to any day: what was true then, or what the memory knew then, beside now.', time_axis: 'What to compare', time_true: 'What was true', time_known: 'What was known', time_pick: 'Day', time_slider: 'Moment', time_differences: 'Differences',
  time_changes: (n) => (n ? `${some(n, 'change')} since then` : 'Nothing changed since then'), time_same: (n) => `${some(n, 'fact')} stayed the same`, then_true: 'True then', then_known: 'Known then', mark_changed: 'changed', mark_was: 'was', mark_gone: 'no longer', mark_new: 'new', and_more: (n) => `and ${n} more`,
  // assistants
  assistants_about: 'They share this one memory. Each can be paused, and has a memory of its own if you like.', assistants_none: 'No assistant was found on this computer. Once one is installed, it can be connected here.', assistants_away: (n) => `${n} more that were not found here`,
  may_use: (name) => `${name} may use the memory`, paused: 'Paused: it can neither read nor write', standing_not_connected: 'not connected', standing_connected: 'connected', standing_outdated: 'connected to another installation', standing_edited: 'connected, entry edited by hand', standing_foreign: 'another program has the name', standing_unreadable: 'its configuration cannot be read', standing_by_itself: 'connected by itself',
  not_installed: 'not installed', last_seen: (when) => `last call ${when}`, did_today: (read, wrote) => `today ${read} read, ${wrote} written`, trying: 'Trying…', connect: 'Connect', connect_again: 'Connect again', disconnect: 'Disconnect', test: 'Test connection', home_namespace: 'What it is told goes to', home_default: 'the memory all share',
  other_assistant: 'Another assistant', snippet_about: 'Most take this under Settings, MCP.', copy: 'Copy', copied: 'Copied.', copy_failed: 'The browser did not let it be copied; mark it and copy it yourself.',
  // models
  models_about: 'Everything runs on this computer; nothing is sent anywhere.', builtin_model: 'Built-in embedder', model_loading: 'is being loaded; until then answers go by words alone', model_ready: 'finds what you mean, not only your words', model_failed: 'could not be loaded; answers go by words alone', state_model_loading: 'loading', state_model_ready: 'warm', state_model_failed: 'failed', disk: 'Disk used',
  // activity
  activity_about: 'Who read and wrote how much, and when. What was said is not recorded here.', who: 'Who', all_assistants: 'All assistants', own_programs: 'You (window, terminal)', no_activity: 'No assistant has used the memory yet', no_activity_about: 'As soon as one does, it shows here at once.',
  did_search: 'searched', did_facts: 'looked at facts', did_history: 'looked at a history', did_profile: 'read the profile', did_changes: 'read what changed', did_add: 'told something', did_namespaces: 'looked which memories there are', did_forget: 'had something forgotten', did_clear: 'erased a memory', did_would_forget: 'asked what forgetting would take', did_status: 'looked at the status', did_browse: 'looked through the memory', did_compare: 'compared two moments', did_moments: 'looked at the line of time', did_explain: 'asked for the reason of a fact', did_review: 'looked at proposals', did_decide: 'decided a proposal', did_check: 'checked the file',
  did_not: (verb, why) => `was refused: ${verb} (${why})`, outcome_paused: 'paused', outcome_toomanycalls: 'too many calls', outcome_invalidinput: 'could not be understood', outcome_notfound: 'not there', outcome_notallowed: 'not allowed', outcome_failed: 'failed',
  // settings
  language: 'Language', system: 'As the system', looks: 'Looks', light: 'Light', dark: 'Dark', nightly: 'Nightly tidying', nightly_about: 'Puts exact duplicates together and gathers suggestions, while the computer is idle.', nightly_at: 'at', agents_decide: 'Assistants may record decisions', agents_decide_about: 'Whether an assistant may note your verdict on a proposal where it cannot ask you itself.', saved: 'Saved.',
  data_folder: 'Data folder', data_folder_about: 'All of your memory is in here. Copy it while the service is stopped, and you have a backup.', data_sizes: (n, bytes) => `${Number(n) === 1 ? 'one memory' : `${n} memories`}, ${bytes}`, this_browser: 'This browser', this_browser_about: 'It stays let in for 30 days.', leave: 'Lock it out', licences: 'what it is made of', welcome_again: 'the first steps again',
  // first run
  step: (at, all) => `Step ${at} of ${all}`, previous: 'Back', next: 'Next', finish: 'Open my memory', skip_all: 'Skip', welcome_title: 'Welcome', welcome_about: 'Here is one memory for all your assistants. It stays on this computer, and you see and steer everything it knows.',
  welcome_models: 'It works at once', welcome_models_about: 'What finds things is built in. Larger models can be added later; nothing has to be downloaded now.', welcome_connect: 'Connect your assistants', welcome_connect_about: 'These were found here. Connecting writes one entry into the assistant’s own configuration; a copy is kept beside it.',
  welcome_say: 'Say one sentence', welcome_say_about: 'Tell it something about you, and see it come back.', welcome_example: 'I work at Acme as a designer.', welcome_came_back: 'This is what an assistant would be told:',
};
