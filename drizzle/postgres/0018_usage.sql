CREATE TABLE "budgets" (
	"id" text PRIMARY KEY NOT NULL,
	"scope" text NOT NULL,
	"account" text NOT NULL,
	"chat_id" text,
	"kind" text NOT NULL,
	"per" text NOT NULL,
	"quantity" bigint NOT NULL,
	"currency" text,
	"timezone" text,
	"set_by" text NOT NULL,
	"set_at" bigint NOT NULL,
	"from_at" bigint NOT NULL,
	"to_at" bigint NOT NULL,
	"spent" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "usage" DROP CONSTRAINT "usage_pk";--> statement-breakpoint
ALTER TABLE "usage" ALTER COLUMN "run_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "reserved_at" bigint;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "reserved_requests" bigint;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "reserved_tokens" bigint;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "reserved_money" bigint;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "reserved_currency" text;--> statement-breakpoint
ALTER TABLE "usage" ADD COLUMN "id" text;--> statement-breakpoint
ALTER TABLE "usage" ADD COLUMN "attempt" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "usage" ALTER COLUMN "attempt" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "usage" ADD COLUMN "source" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "usage" ALTER COLUMN "source" DROP DEFAULT;--> statement-breakpoint
DELETE FROM "usage" WHERE kind NOT IN ('requests', 'bytes', 'seconds', 'tokens', 'money');--> statement-breakpoint
UPDATE "usage" SET id = run_id || ' 0 ' || kind || ' ', at = coalesce((SELECT r.created_at FROM runs r WHERE r.id = "usage".run_id), at);--> statement-breakpoint
ALTER TABLE "usage" ALTER COLUMN "id" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "usage" ADD PRIMARY KEY ("id");--> statement-breakpoint
ALTER TABLE "usage" ADD COLUMN "currency" text;--> statement-breakpoint
ALTER TABLE "usage" ADD COLUMN "price_version" text;--> statement-breakpoint
CREATE INDEX "budgets_account" ON "budgets" USING btree ("account");--> statement-breakpoint
CREATE INDEX "budgets_chat" ON "budgets" USING btree ("chat_id");--> statement-breakpoint
CREATE INDEX "runs_reserved_chat" ON "runs" USING btree ("chat_id") WHERE reserved_at is not null and status in ('queued', 'running', 'backoff', 'waiting');--> statement-breakpoint
CREATE INDEX "runs_reserved_owner" ON "runs" USING btree ("owner_id") WHERE reserved_at is not null and status in ('queued', 'running', 'backoff', 'waiting');--> statement-breakpoint
CREATE INDEX "runs_reserved_task" ON "runs" USING btree ("task_id") WHERE reserved_at is not null and status in ('queued', 'running', 'backoff', 'waiting');--> statement-breakpoint
CREATE INDEX "usage_run" ON "usage" USING btree ("run_id");--> statement-breakpoint
CREATE INDEX "usage_chat" ON "usage" USING btree ("chat_id","at");--> statement-breakpoint
CREATE INDEX "usage_task" ON "usage" USING btree ("task_id","at");