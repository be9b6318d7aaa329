CREATE TABLE `set_backs` (
	`id` integer PRIMARY KEY NOT NULL,
	`from_at` integer NOT NULL,
	`to_at` integer NOT NULL
);--> statement-breakpoint
ALTER TABLE `occurrences` ADD `deed_id` integer;--> statement-breakpoint
ALTER TABLE `occurrences` ADD `asked_by` integer;--> statement-breakpoint
-- Rows of the first version: their verb tells where the task stood.
UPDATE audit SET
  state_before = case verb when 'create' then null when 'resume' then 'paused' when 'restore' then 'deleted' else coalesce(case when json_valid(before) then before ->> '$.state' end, 'active') end,
  state_after = case verb when 'pause' then 'paused' when 'quarantine' then 'paused' when 'delete' then 'deleted' when 'restore' then coalesce(case when json_valid(after) then after ->> '$.state' end, 'active') else 'active' end
WHERE state_before is null and state_after is null and task_id is not null
  and verb in ('create', 'pause', 'quarantine', 'resume', 'delete', 'restore');--> statement-breakpoint
CREATE INDEX `audit_changes` ON `audit` (`task_id`,`at`) WHERE (state_before is distinct from state_after or verb in ('pause', 'quarantine'));--> statement-breakpoint
-- A deed was written at the very instant at which the rows it touched changed.
UPDATE occurrences SET deed_id = (
  select min(a.id) from audit a where a.task_id = occurrences.task_id and a.at in (occurrences.created_at, occurrences.updated_at,
      (select r.created_at from runs r where r.id = occurrences.run_id),
      (select r.cancel_requested_at from runs r where r.id = occurrences.run_id))
    and (reason = 'skip' and verb = 'skip' or reason = 'undone' and verb in ('undo', 'unskip', 'resume')
      or reason = 'declined' and verb = 'answer' or reason = 'paused' and verb in ('pause', 'edit', 'quarantine', 'undo')
      or reason = 'deleted' and verb = 'delete' or reason = 'cancelled' and verb in ('cancel', 'delete')))
WHERE reason in ('skip', 'undone', 'declined', 'paused', 'deleted', 'cancelled');--> statement-breakpoint
UPDATE occurrences SET asked_by = (
  select min(a.id) from audit a where a.task_id = occurrences.task_id and a.at in (occurrences.created_at, occurrences.updated_at,
      (select r.created_at from runs r where r.id = occurrences.run_id),
      (select r.cancel_requested_at from runs r where r.id = occurrences.run_id))
    and verb = case source when 'catch_up' then 'answer' else source end)
WHERE source <> 'schedule';--> statement-breakpoint
-- Where of two deeds the later one has the earlier time, the clock was set back between them.
INSERT INTO set_backs (from_at, to_at)
SELECT at, latest FROM (
  select id, at, lag(at) over (order by id) as last, max(at) over (order by id rows between unbounded preceding and 1 preceding) as latest
  from audit
) made WHERE at < last - 60000 ORDER BY id;--> statement-breakpoint
-- One downtime at most is without its report; the next start makes it reach to that start.
DELETE FROM downtimes WHERE report is null and id > (select min(id) from downtimes where report is null);
