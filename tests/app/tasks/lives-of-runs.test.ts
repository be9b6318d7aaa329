import { tellLives } from './lives.ts';

tellLives(
  'skipping',
  `
of the only slot of a once-task completes it | once 1 | skip | state completed, next -
of the only slot is taken back by unskip | once 1 | skip, unskip, +60 | 60 succeeded, state completed
of the slot that a person saw skips that one alone | | skip 1 @60, skip 1 @60 = | 60 skipped skip
of a slot that came meanwhile lets that slot run | | ~60, skip 1 @60, settle | 60 succeeded
at exactly a slot skips the one after it | | ~60, skip, settle | 60 succeeded, 120 skipped skip, next 180
counts against no bound of runs | max_runs 2 | skip 3, +240, +60, +60 | 60 skipped skip, 120 skipped skip, 180 skipped skip, 240 succeeded, 300 succeeded, state completed
of a delay that is running is refused, because its end decides when the next run is | delay, echoing | +60, skip !nothing_to_skip, +1, skip | 60 succeeded, 120 skipped skip
lasts through a pause that ends by itself before it | | skip 2, pause @30, +30, +30, +60, +60 | 60 skipped skip, 120 skipped skip, 180 succeeded
lasts through a deletion that is taken back | | skip, delete, restore | next 120
lasts when another title is given | | skip, title Other | 60 skipped skip, next 120
ends when another timing is given | | skip, cron 0,30, +30, +30 | 30 succeeded, 60 succeeded, next 90
is taken back for what is to come, and never for what is past | | skip 3, +60, unskip, +60, +60 | 60 skipped skip, 120 succeeded, 180 succeeded
is taken back in a pause without bringing the task to life | | skip 2, pause, unskip | state paused, next -
is taken back in a pause, and its slots run after that | | skip 2, pause, unskip, resume | next 60
is undone, and done again when its unskip is undone | | skip 2, undo, skip 2, unskip, undo | next 180
of slots that have passed cannot be undone any more | | skip, +90, undo = | next 120
lasts through new rules of time | | skip 2, replan | next 180
is not shown as the next after a pause that ended by itself | | skip, pause @30, +31 | next 120
uses up no run after a pause that ended by itself | max_runs 1 | skip, pause @30, +31, +30, +30, +30 | 60 skipped skip, 120 succeeded
`,
);

tellLives(
  'a snooze',
  `
does not begin before its time | | snooze @30, +29.9 | 30 snooze pending, next 60
moves by any time that a person names, be it some seconds | | snooze @30, snooze @29.9, +29.9 | 29 snooze succeeded, 30 snooze skipped replaced
begins at its time | | snooze @30, +30 | 30 snooze succeeded, next 60
to the same end changes nothing, also where that instant was taken | | snooze @30, snooze @40, snooze @30, snooze @30 = | 30 snooze skipped replaced, 30 snooze pending, 40 snooze skipped replaced
runs a completed once-task once more, and leaves it completed | once 1 | +60, snooze @90, +30 | 60 succeeded, 90 snooze succeeded, state completed, next -
of a paused task runs in the pause, because a person asked for it | | pause, snooze @30, +60 | 30 snooze succeeded, state paused
is held by a pause | | snooze @30, +1, pause, +40 | 30 snooze skipped paused
is ended by a deletion | | snooze @30, delete, +40 | 30 snooze cancelled deleted
of a delay moves no slot of it | delay | snooze @30, +30 | 30 snooze succeeded, next 60
to come takes no place in the queue and holds no slot back | minutely, overlap queue | snooze @30, +1, +1 | 1 succeeded, 2 succeeded, 30 snooze pending
is undone with a row | | snooze @30, undo, +40 | 30 snooze skipped undone
that was moved is undone to where it was | | snooze @30, snooze @40, undo | 30 snooze skipped replaced, 30 snooze pending, 40 snooze skipped undone
that has run is not undone | | snooze @30, +35, undo = | 30 snooze succeeded
`,
);

tellLives(
  'a run by hand',
  `
works in a pause, and leaves it so | | pause, run, settle | 0 run_now succeeded, state paused, next -
moves nothing of a delay | delay, start_at 2026-11-18T12:00:00Z | +1, run, settle | 1 run_now succeeded, next 180
in a pause is called off by cancel | slow | pause, run, runner, cancel, settle | 0 run_now cancelled cancelled
that is called off in vain still takes up the slot that is due | | ~60, cancel | next 120
`,
);

tellLives(
  'an answer',
  `
with none declines them | missed ask | ~140, settle, answer none, settle | 60 catch_up skipped declined, 120 catch_up skipped declined
is for all that wait, and is final | missed ask | ~140, settle, ~120, settle, answer all, answer latest !nothing_to_answer, settle | 60 catch_up succeeded, 120 catch_up succeeded, 180 catch_up succeeded, 240 catch_up succeeded
with none is final | missed ask | ~140, settle, answer none, answer latest !nothing_to_answer | 60 catch_up skipped declined, 120 catch_up skipped declined
runs the slot that has completed a once-task | once 2, missed ask | ~140, settle, answer all, settle | 120 catch_up succeeded, state completed
comes too late after a pause | missed ask | ~140, settle, pause, answer all !nothing_to_answer, settle | 60 catch_up skipped paused, 120 catch_up skipped paused
comes too late after a deletion | missed ask | ~140, settle, delete, answer all !task_not_found, settle | 60 catch_up cancelled deleted, 120 catch_up cancelled deleted
is waited for after an edit as well | missed ask | ~140, settle, title New, answer all, settle | 60 catch_up succeeded, 120 catch_up succeeded, title New
comes too late after a day | missed ask | ~140, settle, once 100, +1440, answer all !nothing_to_answer |
`,
);

tellLives(
  'doing a run again',
  `
makes a cancelled one good | | run, cancel, retry, settle | 0 run_now cancelled cancelled, 0 retry succeeded
of one that succeeded is a replay alone | | run, settle, retry !not_repeatable |
as a replay is each time a new call | | run, settle, replay, settle, replay, settle | 0 run_now succeeded, 0 replay succeeded, 0 replay succeeded
as a replay is also for one that was cancelled | | run, cancel, replay, settle | 0 run_now cancelled cancelled, 0 replay succeeded
as a replay is also for one that failed | failing | run, settle, replay, settle, replay, settle | 0 run_now failed, 0 replay failed, 0 replay failed
as a retry goes beside a live run where that is allowed | failing, overlap allow | run, settle, action message, run, retry | 0 run_now failed, 0 run_now dispatched, 0 retry dispatched
as a replay goes beside a live run where that is allowed | failing, overlap allow | run, settle, action message, run, replay | 0 run_now failed, 0 run_now dispatched, 0 replay dispatched
`,
);

tellLives(
  'max_runs',
  `
counts a run when it ends, and leaves out what comes before that | max_runs 1, minutely, lasting 90, overlap allow | +1, +1 | 1 dispatched, 2 skipped max_runs, state active, next 3
completes the task when the last run has ended | max_runs 1, minutely, lasting 90 | +1, +1.5 | 1 succeeded, 2 skipped max_runs, state completed, next -
gets the place back of a run that is called off before it begins | max_runs 1 | ~60, step, cancel, +60, +60 | 60 cancelled cancelled, 120 succeeded, state completed, next -
gets the place back of a run that is replaced before it begins | max_runs 2, minutely, overlap replace | ~1, step, ~1, step, settle, +1 | 1 cancelled replaced, 2 succeeded, 3 succeeded, state completed
keeps a place for what waits | max_runs 2, minutely, lasting 90, overlap queue | +1, +1, +1 | 1 succeeded, 2 dispatched, 3 skipped max_runs
gives no place to a run by hand | max_runs 1 | run, settle, +60, run, settle | 0 run_now succeeded, 60 succeeded, 60 run_now succeeded, state completed
is not used up by what another timing asked for | max_runs 1, minutely, lasting 90 | +1, cron 5, +2, +2 | 1 succeeded, 5 dispatched, state active
that is lowered to what has run completes the task | max_runs 3 | +60, limit 1 | 60 succeeded, state completed, next -
that is lowered below what has run and runs completes the task when that ends | max_runs 3, minutely, lasting 90, overlap allow | +1, +1, limit 1, +0.5 | 1 succeeded, 2 dispatched, state completed
that is raised again lets the task go on | max_runs 3 | +60, limit 1, limit 2, +60 | 60 succeeded, 120 succeeded, state completed
that was lowered is undone | max_runs 3 | +60, limit 1, undo | state active, next 120
lets nobody resume what is complete | max_runs 1 | +60, resume !schedule_exhausted | state completed
`,
);
