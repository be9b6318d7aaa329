CREATE TABLE `album_messages` (
	`delivery_id` text NOT NULL,
	`position` integer NOT NULL,
	`chat_id` text NOT NULL,
	`platform_chat_id` text NOT NULL,
	`message_id` integer NOT NULL,
	PRIMARY KEY(`delivery_id`, `position`)
);
--> statement-breakpoint
CREATE INDEX `album_messages_message` ON `album_messages` (`platform_chat_id`,`message_id`);--> statement-breakpoint
CREATE TABLE `blob_chunks` (
	`chat_id` text NOT NULL,
	`sha256` text NOT NULL,
	`chunk` integer NOT NULL,
	`bytes` blob NOT NULL,
	PRIMARY KEY(`chat_id`, `sha256`, `chunk`)
);
--> statement-breakpoint
CREATE TABLE `blob_refs` (
	`run_id` text NOT NULL,
	`sha256` text NOT NULL,
	`role` text NOT NULL,
	`chat_id` text NOT NULL,
	PRIMARY KEY(`run_id`, `sha256`, `role`),
	CONSTRAINT "blob_refs_role" CHECK(role in ('input', 'output'))
);
--> statement-breakpoint
CREATE INDEX `blob_refs_blob` ON `blob_refs` (`chat_id`,`sha256`);--> statement-breakpoint
CREATE TABLE `blobs` (
	`chat_id` text NOT NULL,
	`sha256` text NOT NULL,
	`mime` text NOT NULL,
	`size` integer NOT NULL,
	`is_whole` integer NOT NULL,
	`put_at` integer NOT NULL,
	`expires_at` integer,
	PRIMARY KEY(`chat_id`, `sha256`),
	CONSTRAINT "blobs_size_known" CHECK(size >= 0)
);
--> statement-breakpoint
CREATE INDEX `blobs_size` ON `blobs` (`chat_id`,`size`);--> statement-breakpoint
CREATE INDEX `blobs_expiry` ON `blobs` (`expires_at`) WHERE expires_at is not null;--> statement-breakpoint
CREATE TABLE `watches` (
	`task_id` text PRIMARY KEY NOT NULL,
	`chat_id` text NOT NULL,
	`hash` text NOT NULL,
	`value` text,
	`at` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `attempts` ADD `chat_id` text;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `messages` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `events` ADD `chat_id` text;--> statement-breakpoint
ALTER TABLE `gaps` ADD `chat_id` text;--> statement-breakpoint
ALTER TABLE `occurrences` ADD `chat_id` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `context_version` integer;--> statement-breakpoint
ALTER TABLE `runs` ADD `snapshot` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `approval` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `progress` text;--> statement-breakpoint
ALTER TABLE `task_tags` ADD `chat_id` text;--> statement-breakpoint
ALTER TABLE `task_versions` ADD `chat_id` text;--> statement-breakpoint
ALTER TABLE `tasks` ADD `action_kind` text DEFAULT 'message' NOT NULL;--> statement-breakpoint
ALTER TABLE `tasks` ADD `context_version` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `tasks` ADD `watched_since` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
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
UPDATE tasks SET action_kind = coalesce(action ->> '$.kind', 'message') WHERE json_valid(action);
