ALTER TABLE `runs` ADD `run_number` integer;--> statement-breakpoint
ALTER TABLE `runs` ADD `action_kind` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `error_code` text;--> statement-breakpoint
ALTER TABLE `tasks` ADD `run_number` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `tasks` ADD `last_run_id` text;--> statement-breakpoint
UPDATE runs SET run_number = counted.number FROM (
	SELECT id, row_number() OVER (PARTITION BY task_id ORDER BY id) AS number FROM runs WHERE task_id IS NOT NULL
) AS counted WHERE counted.id = runs.id;--> statement-breakpoint
UPDATE tasks SET run_number = counted.number, last_run_id = counted.ended FROM (
	SELECT task_id, max(run_number) AS number, max(CASE WHEN finished_at IS NOT NULL THEN id END) AS ended
	FROM runs WHERE task_id IS NOT NULL GROUP BY task_id
) AS counted WHERE counted.task_id = tasks.id;--> statement-breakpoint
UPDATE runs SET action_kind = json_extract(input, '$.action.kind') WHERE json_valid(input);
