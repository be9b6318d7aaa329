CREATE TABLE "album_messages" (
	"delivery_id" text NOT NULL,
	"position" bigint NOT NULL,
	"chat_id" text NOT NULL,
	"platform_chat_id" text NOT NULL,
	"message_id" bigint NOT NULL,
	CONSTRAINT "album_messages_pk" PRIMARY KEY("delivery_id","position")
);
--> statement-breakpoint
CREATE TABLE "blob_chunks" (
	"chat_id" text NOT NULL,
	"sha256" text NOT NULL,
	"chunk" bigint NOT NULL,
	"bytes" "bytea" NOT NULL,
	CONSTRAINT "blob_chunks_pk" PRIMARY KEY("chat_id","sha256","chunk")
);
--> statement-breakpoint
CREATE TABLE "blob_refs" (
	"run_id" text NOT NULL,
	"sha256" text NOT NULL,
	"role" text NOT NULL,
	"chat_id" text NOT NULL,
	CONSTRAINT "blob_refs_pk" PRIMARY KEY("run_id","sha256","role"),
	CONSTRAINT "blob_refs_role" CHECK (role in ('input', 'output'))
);
--> statement-breakpoint
CREATE TABLE "blobs" (
	"chat_id" text NOT NULL,
	"sha256" text NOT NULL,
	"mime" text NOT NULL,
	"size" bigint NOT NULL,
	"is_whole" bigint NOT NULL,
	"put_at" bigint NOT NULL,
	"expires_at" bigint,
	CONSTRAINT "blobs_pk" PRIMARY KEY("chat_id","sha256"),
	CONSTRAINT "blobs_size_known" CHECK (size >= 0)
);
--> statement-breakpoint
CREATE TABLE "watches" (
	"task_id" text PRIMARY KEY NOT NULL,
	"chat_id" text NOT NULL,
	"hash" text NOT NULL,
	"value" text,
	"at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "attempts" ADD COLUMN "chat_id" text;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "messages" bigint DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "chat_id" text;--> statement-breakpoint
ALTER TABLE "gaps" ADD COLUMN "chat_id" text;--> statement-breakpoint
ALTER TABLE "occurrences" ADD COLUMN "chat_id" text;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "context_version" bigint;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "snapshot" text;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "approval" text;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "progress" text;--> statement-breakpoint
ALTER TABLE "task_tags" ADD COLUMN "chat_id" text;--> statement-breakpoint
ALTER TABLE "task_versions" ADD COLUMN "chat_id" text;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "action_kind" text DEFAULT 'message' NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "context_version" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "watched_since" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "album_messages_message" ON "album_messages" USING btree ("platform_chat_id","message_id");--> statement-breakpoint
CREATE INDEX "blob_refs_blob" ON "blob_refs" USING btree ("chat_id","sha256");--> statement-breakpoint
CREATE INDEX "blobs_size" ON "blobs" USING btree ("chat_id","size");--> statement-breakpoint
CREATE INDEX "blobs_expiry" ON "blobs" USING btree ("expires_at") WHERE expires_at is not null;--> statement-breakpoint
UPDATE task_tags SET chat_id = (SELECT t.chat_id FROM tasks t WHERE t.id = task_tags.task_id);--> statement-breakpoint
UPDATE task_versions SET chat_id = (SELECT t.chat_id FROM tasks t WHERE t.id = task_versions.task_id);--> statement-breakpoint
UPDATE gaps SET chat_id = (SELECT t.chat_id FROM tasks t WHERE t.id = gaps.task_id);--> statement-breakpoint
UPDATE attempts SET chat_id = (SELECT r.chat_id FROM runs r WHERE r.id = attempts.run_id);--> statement-breakpoint
-- A task that has moved to another chat left its history in the old one.
UPDATE occurrences SET chat_id = coalesce((SELECT r.chat_id FROM runs r WHERE r.id = occurrences.run_id), (SELECT t.chat_id FROM tasks t WHERE t.id = occurrences.task_id));--> statement-breakpoint
UPDATE usage SET chat_id = (SELECT r.chat_id FROM runs r WHERE r.id = usage.run_id) WHERE chat_id IS NULL;--> statement-breakpoint
UPDATE audit SET chat_id = (SELECT t.chat_id FROM tasks t WHERE t.id = audit.task_id) WHERE chat_id IS NULL;--> statement-breakpoint
UPDATE events SET chat_id = coalesce(
	CASE WHEN kind LIKE 'run.%' THEN (SELECT r.chat_id FROM runs r WHERE r.id = events.ref)
		WHEN kind LIKE 'delivery.%' THEN (SELECT d.chat_id FROM deliveries d WHERE d.id = events.ref)
		WHEN kind LIKE 'access.%' THEN (SELECT a.chat_id FROM audit a WHERE CAST(a.id AS text) = events.ref) END,
	(SELECT t.chat_id FROM tasks t WHERE t.id = events.task_id));--> statement-breakpoint
-- The context of a run that was under way is of before what a person has changed since.
UPDATE tasks SET context_version = 1 WHERE id IN (SELECT r.task_id FROM runs r JOIN audit a ON a.task_id = r.task_id AND a.at > r.created_at
	WHERE r.status IN ('queued', 'running', 'backoff') AND a.after LIKE '%"context":%');--> statement-breakpoint
-- A row that cannot be read says nothing.
CREATE FUNCTION pg_temp.kind_in(body text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN RETURN coalesce(body::json ->> 'kind', 'message'); EXCEPTION WHEN others THEN RETURN 'message'; END $$;--> statement-breakpoint
UPDATE tasks SET action_kind = pg_temp.kind_in(action);--> statement-breakpoint
DROP FUNCTION pg_temp.kind_in(text);
