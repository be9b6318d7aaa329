ALTER TABLE "deliveries" ADD COLUMN "decision" text;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "beside" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE deliveries SET decision = evidence WHERE evidence like '{"approved_by":%' or evidence like '{"discarded_by":%';--> statement-breakpoint
UPDATE tasks SET beside = 1 WHERE policies like '%"overlap":"allow"%';
