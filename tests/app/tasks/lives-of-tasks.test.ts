import { tellLives } from './lives.ts';

tellLives(
  'a pause',
  `
until an instant makes up for nothing, and ends by itself | missed all | pause @150, +90, +90, +60 | 180 succeeded, 240 succeeded, state active, until -
of a once-task over its slot completes it | once 1 | pause @90, +90 | state completed, next -, until -
at exactly a slot gives that slot first | | ~60, pause @90, settle | 60 succeeded, state paused, until 90
until the same instant changes nothing | | pause @90, +10, pause @90 = | until 90
for good, said twice, changes nothing | | pause, pause =, resume, resume = | state active, next 60
until another instant moves its end | | pause @90, +10, pause @30, +20 | state active, next 60
for good takes its end away | | pause @30, pause, +180 | nothing, state paused, until -
that was resumed has an end no more | | pause @30, resume, +40 | nothing, state active, until -
that was deleted has an end no more | | pause @30, delete, +40 | state deleted, until -
of a delay, resumed by hand, lets it begin anew | delay | pause @120, +30, resume | state active, next 90
of a delay that runs puts off the next run to its own end, not to the finish | delay, echoing | +60, pause @90, +1, +29 | state active, next 150
over the last slot cannot be resumed | once 1 | pause, +120, resume !schedule_exhausted | state paused
that is over within a slot gives that slot once | | ~60, pause, resume, settle | 60 succeeded
ends what waits | slow, overlap queue | +60, run, pause | 60 dispatched, 60 run_now skipped paused, state paused
of a delay lets it begin anew at exactly its end | delay | pause @30, +30 | next 90
resumed at exactly a slot has had that slot | | pause, ~60, resume, settle | nothing, next 120
resumed at the instant of its end keeps that slot | | pause @60, ~60, resume, settle | 60 succeeded
resumed after an end that nobody saw keeps the slots since then | | pause @60, ~65, resume, settle | 60 succeeded
that has ended by itself is not resumed once more | | pause @60, ~60, step, resume =, settle | 60 succeeded
switched off loses its end | | pause @90, off, +180 | nothing, state paused, until -
switched off has its end back when that is undone | | pause @90, off, undo, +90, +30 | 120 succeeded
without an end is not switched off once more | | pause, off = | state paused
is undone | | pause @300, undo | state active, next 60, until -
that moved an end is undone to that end | | pause @90, pause @300, undo | state paused, until 90
that moved an end which has passed is undone to no pause | | pause @90, pause @360, +120, undo | state active, next 180
is back with its end when the resume is undone | | pause @90, resume, undo | state paused, until 90
is back with its end when switching on is undone | | pause @90, on, undo | state paused, until 90
`,
);

tellLives(
  'a deletion',
  `
at exactly a slot takes that slot up and cancels it | | ~60, delete, settle | 60 cancelled deleted
keeps the pause of a task that is restored | | pause @180, delete, +60, restore | state paused, next -, until 180
ends a pause whose end has passed by the time of the restoration, and makes up for nothing | missed all | pause @30, delete, +150, restore, settle | nothing, state active, next 180
leaves a task completed whose runs were used up | max_runs 1 | +60, delete, restore | state completed, next -
gives back the place of a run that never began | max_runs 1 | ~60, delete, restore | state active, next 120
is undone alone of a task that is gone | title T | title New, delete, undo | next 60, title New
is undone, and then what was before it | title T | title New, delete, undo, undo | title T
is back when the restoration is undone | | delete, restore, undo | state deleted
`,
);

tellLives(
  'undoing',
  `
goes back step by step, and never over a step that was taken back | title One | title Two, title Three, undo, undo, undo !nothing_to_undo | title One
finds nothing in runs | | run, undo !nothing_to_undo |
to a time that has passed is refused | once 1 | once 5, +120, undo !invalid_schedule | next 300
keeps the slot that is due | | cron 30, ~30, undo, settle | 30 succeeded, next 60
`,
);

tellLives(
  'an edit',
  `
of the title keeps a slot that was due | | ~60, title New, settle | 60 succeeded, title New
takes up the slot that is due although nothing changes | title T | ~60, title T | next 120
gives a completed task something to do again | once 1 | +60, once 3 | state active, next 180
of the timing starts the count of runs again | max_runs 1 | +60, cron 30, +30 | 60 succeeded, 90 succeeded, state completed
of the action takes the right to it along | | action echo, +60 | 60 succeeded
of the action that is undone does so too | | action echo, undo, +60 | 60 succeeded
of the title leaves a delay to count from the finish of its run | delay, slow | +60, title New, +1 | next 121
of the overlap to allow admits what waits | slow, overlap queue | +60, run, allow, settle | 60 dispatched, 60 run_now dispatched
`,
);
