CREATE TABLE "downtimes" (
	"id" text PRIMARY KEY NOT NULL,
	"from_at" bigint NOT NULL,
	"to_at" bigint NOT NULL,
	"report" text,
	"reported_at" bigint
);
--> statement-breakpoint
CREATE TABLE "events" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"tx" bigint DEFAULT txid_current() NOT NULL,
	"at" bigint NOT NULL,
	"kind" text NOT NULL,
	"task_id" text,
	"ref" text,
	"data" text
);
--> statement-breakpoint
CREATE TABLE "task_versions" (
	"task_id" text NOT NULL,
	"version" bigint NOT NULL,
	"at" bigint NOT NULL,
	"actor" text NOT NULL,
	"definition" text NOT NULL,
	CONSTRAINT "task_versions_pk" PRIMARY KEY("task_id","version")
);
--> statement-breakpoint
ALTER TABLE "audit" ADD COLUMN "state_before" text;--> statement-breakpoint
ALTER TABLE "audit" ADD COLUMN "state_after" text;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "resume_at" bigint;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "skips_until" bigint;--> statement-breakpoint
CREATE INDEX "downtimes_open" ON "downtimes" USING btree ("to_at") WHERE report is null;--> statement-breakpoint
CREATE INDEX "events_order" ON "events" USING btree ("tx","id");--> statement-breakpoint
CREATE INDEX "occurrences_snoozed" ON "occurrences" USING btree ("slot_at") WHERE status = 'pending' and source = 'snooze';--> statement-breakpoint
CREATE INDEX "occurrences_replay" ON "occurrences" USING btree ("replay_of") WHERE replay_of is not null;--> statement-breakpoint
CREATE INDEX "tasks_resume" ON "tasks" USING btree ("resume_at") WHERE resume_at is not null;