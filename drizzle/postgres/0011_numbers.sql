ALTER TABLE "runs" ADD COLUMN "run_number" bigint;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "action_kind" text;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "error_code" text;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "run_number" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "last_run_id" text;--> statement-breakpoint
UPDATE runs SET run_number = counted.number FROM (
	SELECT id, row_number() OVER (PARTITION BY task_id ORDER BY id) AS number FROM runs WHERE task_id IS NOT NULL
) AS counted WHERE counted.id = runs.id;--> statement-breakpoint
UPDATE tasks SET run_number = counted.number, last_run_id = counted.ended FROM (
	SELECT task_id, max(run_number) AS number, max(CASE WHEN finished_at IS NOT NULL THEN id END) AS ended
	FROM runs WHERE task_id IS NOT NULL GROUP BY task_id
) AS counted WHERE counted.task_id = tasks.id;--> statement-breakpoint
UPDATE runs SET action_kind = substring(input FROM '"action":[{]"kind":"([a-z_]+)"');
