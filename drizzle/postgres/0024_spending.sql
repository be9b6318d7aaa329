DROP INDEX "runs_reserved_task";--> statement-breakpoint
DROP INDEX "runs_reserved_chat";--> statement-breakpoint
DROP INDEX "runs_reserved_owner";--> statement-breakpoint
DROP INDEX "usage_run";--> statement-breakpoint
UPDATE "runs" SET reserved_at = null WHERE reserved_at is not null and status not in ('queued', 'running', 'backoff', 'waiting');--> statement-breakpoint
CREATE INDEX "runs_reserved_chat" ON "runs" USING btree ("chat_id") WHERE reserved_at is not null;--> statement-breakpoint
CREATE INDEX "runs_reserved_owner" ON "runs" USING btree ("owner_id") WHERE reserved_at is not null;--> statement-breakpoint
UPDATE "usage" SET run_id = id WHERE run_id is null;--> statement-breakpoint
ALTER TABLE "usage" DROP COLUMN "id";--> statement-breakpoint
ALTER TABLE "usage" ALTER COLUMN "run_id" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "usage" ADD CONSTRAINT "usage_pk" PRIMARY KEY("run_id","attempt","kind","source");