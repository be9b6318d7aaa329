CREATE TABLE `attempts` (
	`run_id` text NOT NULL,
	`attempt` integer NOT NULL,
	`status` text NOT NULL,
	`boot_id` text NOT NULL,
	`started_at` integer NOT NULL,
	`finished_at` integer,
	`duration_ms` integer,
	`http_status` integer,
	`error` text,
	PRIMARY KEY(`run_id`, `attempt`),
	CONSTRAINT "attempts_status" CHECK(status in ('running', 'succeeded', 'failed', 'timed_out', 'interrupted', 'cancelled')),
	CONSTRAINT "attempts_end" CHECK((status = 'running') = (finished_at is null))
);
--> statement-breakpoint
CREATE TABLE `audit` (
	`id` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`actor` text NOT NULL,
	`verb` text NOT NULL,
	`task_id` text,
	`chat_id` text,
	`before` text,
	`after` text
);
--> statement-breakpoint
CREATE INDEX `audit_task` ON `audit` (`task_id`,`at`);--> statement-breakpoint
CREATE TABLE `chat_aliases` (
	`provider` text NOT NULL,
	`address` text NOT NULL,
	`chat_id` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`provider`, `address`),
	FOREIGN KEY (`chat_id`) REFERENCES `chats`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `chats` (
	`id` text PRIMARY KEY NOT NULL,
	`provider` text NOT NULL,
	`address` text NOT NULL,
	`title` text,
	`kind` text,
	`state` text NOT NULL,
	`timezone` text,
	`settings` text NOT NULL,
	`approved_by` text,
	`last_number` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	CONSTRAINT "chats_state" CHECK(state in ('new', 'approved', 'refused', 'gone'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `chats_address` ON `chats` (`provider`,`address`);--> statement-breakpoint
CREATE TABLE `deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`run_id` text,
	`task_id` text,
	`chat_id` text NOT NULL,
	`lane` text NOT NULL,
	`rank` integer NOT NULL,
	`kind` text NOT NULL,
	`part` integer NOT NULL,
	`status` text NOT NULL,
	`ready_at` integer,
	`content` text NOT NULL,
	`unknown_policy` text NOT NULL,
	`expires_at` integer,
	`fence` integer NOT NULL,
	`boot_id` text,
	`sends` integer NOT NULL,
	`put_offs` integer NOT NULL,
	`sent_at` integer,
	`settles` integer NOT NULL,
	`evidence` text,
	`cause` text,
	`error` text,
	`platform_chat_id` text,
	`message_thread_id` integer,
	`message_id` integer,
	`created_at` integer NOT NULL,
	`delivered_at` integer,
	CONSTRAINT "deliveries_status" CHECK(status in ('pending', 'sending', 'delivered', 'unknown', 'blocked', 'failed')),
	CONSTRAINT "deliveries_proof" CHECK(status <> 'delivered' or message_id is not null)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `deliveries_part` ON `deliveries` (`run_id`,`kind`,`part`);--> statement-breakpoint
CREATE INDEX `deliveries_ready` ON `deliveries` (`chat_id`,`rank`,`id`) WHERE status in ('pending', 'blocked');--> statement-breakpoint
CREATE INDEX `deliveries_waiting` ON `deliveries` (`ready_at`) WHERE status in ('pending', 'blocked');--> statement-breakpoint
CREATE INDEX `deliveries_unknown` ON `deliveries` (`ready_at`) WHERE status = 'unknown';--> statement-breakpoint
CREATE INDEX `deliveries_sending` ON `deliveries` (`boot_id`) WHERE status = 'sending';--> statement-breakpoint
CREATE INDEX `deliveries_open` ON `deliveries` (`lane`,`id`) WHERE status in ('pending', 'blocked', 'sending', 'unknown');--> statement-breakpoint
CREATE TABLE `drafts` (
	`id` text PRIMARY KEY NOT NULL,
	`chat_id` text NOT NULL,
	`user_id` text NOT NULL,
	`topic` integer,
	`step` text NOT NULL,
	`body` text NOT NULL,
	`message_id` integer,
	`expires_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `drafts_place` ON `drafts` (`chat_id`,`user_id`);--> statement-breakpoint
CREATE TABLE `gaps` (
	`id` text PRIMARY KEY NOT NULL,
	`task_id` text NOT NULL,
	`from_at` integer NOT NULL,
	`to_at` integer NOT NULL,
	`count` integer NOT NULL,
	`reason` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `gaps_from` ON `gaps` (`task_id`,`from_at`);--> statement-breakpoint
CREATE TABLE `grants` (
	`id` text PRIMARY KEY NOT NULL,
	`owner_id` text NOT NULL,
	`chat_id` text NOT NULL,
	`scopes` text NOT NULL,
	`expires_at` integer,
	`revoked_at` integer,
	`revoked_by` text,
	`created_at` integer NOT NULL,
	`created_by` text NOT NULL,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`chat_id`) REFERENCES `chats`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `grants_owner` ON `grants` (`id`,`owner_id`);--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`scope` text NOT NULL,
	`key` text NOT NULL,
	`payload_hash` text NOT NULL,
	`result` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`scope`, `key`)
);
--> statement-breakpoint
CREATE INDEX `idempotency_keys_expiry` ON `idempotency_keys` (`expires_at`);--> statement-breakpoint
CREATE TABLE `inbox` (
	`update_id` integer PRIMARY KEY NOT NULL,
	`payload` text NOT NULL,
	`status` text NOT NULL,
	`attempts` integer NOT NULL,
	`error` text,
	`received_at` integer NOT NULL,
	`done_at` integer,
	CONSTRAINT "inbox_status" CHECK(status in ('received', 'done', 'failed'))
);
--> statement-breakpoint
CREATE INDEX `inbox_open` ON `inbox` (`update_id`) WHERE status = 'received';--> statement-breakpoint
CREATE TABLE `kv` (
	`scope` text NOT NULL,
	`key` text NOT NULL,
	`value` text NOT NULL,
	`expires_at` integer,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`scope`, `key`)
);
--> statement-breakpoint
CREATE TABLE `occurrences` (
	`id` text PRIMARY KEY NOT NULL,
	`task_id` text NOT NULL,
	`slot_at` integer NOT NULL,
	`source` text NOT NULL,
	`status` text NOT NULL,
	`reason` text,
	`decide_by` integer,
	`replay_of` text,
	`run_id` text,
	`late_ms` integer NOT NULL,
	`error` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	CONSTRAINT "occurrences_status" CHECK(status in ('pending', 'dispatched', 'succeeded', 'failed', 'cancelled', 'skipped', 'missed')),
	CONSTRAINT "occurrences_run" CHECK(status <> 'dispatched' or run_id is not null)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `occurrences_slot` ON `occurrences` (`task_id`,`slot_at`);--> statement-breakpoint
CREATE INDEX `occurrences_pending` ON `occurrences` (`task_id`,`slot_at`) WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX `occurrences_decide` ON `occurrences` (`decide_by`) WHERE status = 'pending' and decide_by is not null;--> statement-breakpoint
CREATE TABLE `runs` (
	`id` text PRIMARY KEY NOT NULL,
	`source` text NOT NULL,
	`idempotency_key` text NOT NULL,
	`payload_hash` text NOT NULL,
	`lane` text,
	`exclusive` integer NOT NULL,
	`rank` integer NOT NULL,
	`task_id` text,
	`task_version` integer,
	`occurrence_id` text,
	`chat_id` text,
	`owner_id` text NOT NULL,
	`status` text NOT NULL,
	`ready_at` integer NOT NULL,
	`fence` integer NOT NULL,
	`boot_id` text,
	`attempts` integer NOT NULL,
	`interruptions` integer NOT NULL,
	`cancel_requested_at` integer,
	`cancel_reason` text,
	`input` text NOT NULL,
	`output` text,
	`error` text,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`finished_at` integer,
	CONSTRAINT "runs_status" CHECK(status in ('queued', 'running', 'backoff', 'waiting', 'succeeded', 'failed', 'cancelled')),
	CONSTRAINT "runs_boot" CHECK(status <> 'running' or boot_id is not null)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `runs_key` ON `runs` (`idempotency_key`,`source`);--> statement-breakpoint
CREATE UNIQUE INDEX `runs_exclusive` ON `runs` (`task_id`) WHERE exclusive = 1 and status in ('queued', 'running', 'backoff', 'waiting');--> statement-breakpoint
CREATE INDEX `runs_shared` ON `runs` (`task_id`) WHERE exclusive = 0 and status in ('queued', 'running', 'backoff', 'waiting');--> statement-breakpoint
CREATE INDEX `runs_lane` ON `runs` (`lane`) WHERE lane is not null and status in ('queued', 'running', 'backoff', 'waiting');--> statement-breakpoint
CREATE INDEX `runs_ready` ON `runs` (`rank`,`ready_at`) WHERE status in ('queued', 'backoff');--> statement-breakpoint
CREATE INDEX `runs_running` ON `runs` (`boot_id`) WHERE status = 'running';--> statement-breakpoint
CREATE TABLE `tasks` (
	`id` text PRIMARY KEY NOT NULL,
	`number` integer NOT NULL,
	`home_topic` integer,
	`owner_id` text NOT NULL,
	`grant_id` text NOT NULL,
	`version` integer NOT NULL,
	`state` text NOT NULL,
	`next_at` integer,
	`title` text NOT NULL,
	`instructions` text NOT NULL,
	`action` text NOT NULL,
	`schedule_kind` text NOT NULL,
	`once_at` integer,
	`cron` text,
	`rrule` text,
	`interval` text,
	`start_at` integer,
	`interval_from` text,
	`timezone` text NOT NULL,
	`min_gap_ms` integer,
	`policies` text NOT NULL,
	`auto_pause` integer NOT NULL,
	`subject` text,
	`tags` text NOT NULL,
	`context` text NOT NULL,
	`chat_id` text NOT NULL,
	`runs` integer NOT NULL,
	`failures` integer NOT NULL,
	`consecutive_failures` integer NOT NULL,
	`bounded_runs` integer NOT NULL,
	`last_run_at` integer,
	`last_run_status` text,
	`last_error` text,
	`topic_state` text NOT NULL,
	`topic_id` integer,
	`topic_boot` text,
	`topic_asked_at` integer,
	`topic_cause` text,
	`topic_name` text,
	`paused_reason` text,
	`created_at` integer NOT NULL,
	`created_by` text NOT NULL,
	`updated_at` integer NOT NULL,
	`updated_by` text NOT NULL,
	`paused_at` integer,
	`paused_by` text,
	`resumed_at` integer,
	`resumed_by` text,
	`deleted_at` integer,
	`deleted_by` text,
	FOREIGN KEY (`chat_id`) REFERENCES `chats`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`grant_id`,`owner_id`) REFERENCES `grants`(`id`,`owner_id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "tasks_state" CHECK(state in ('active', 'paused', 'completed', 'deleted')),
	CONSTRAINT "tasks_next" CHECK((state = 'active') = (next_at is not null)),
	CONSTRAINT "tasks_payload" CHECK(case schedule_kind
    when 'once' then once_at is not null and cron is null and rrule is null and interval is null
    when 'cron' then once_at is null and cron is not null and rrule is null and interval is null
    when 'rrule' then once_at is null and cron is null and rrule is not null and interval is null
    when 'interval' then once_at is null and cron is null and rrule is null
      and interval is not null and start_at is not null and interval_from in ('start', 'completion')
    else 1 = 0 end),
	CONSTRAINT "tasks_topic" CHECK(topic_state <> 'ready' or topic_id is not null),
	CONSTRAINT "tasks_topic_state" CHECK(topic_state in ('none', 'creating', 'ready', 'blocked'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tasks_number` ON `tasks` (`chat_id`,`number`);--> statement-breakpoint
CREATE INDEX `tasks_due` ON `tasks` (`next_at`) WHERE next_at is not null;--> statement-breakpoint
CREATE INDEX `tasks_owner` ON `tasks` (`owner_id`,`state`);--> statement-breakpoint
CREATE INDEX `tasks_subject` ON `tasks` (`chat_id`,`subject`) WHERE subject is not null;--> statement-breakpoint
CREATE TABLE `usage` (
	`run_id` text NOT NULL,
	`kind` text NOT NULL,
	`quantity` integer NOT NULL,
	`task_id` text,
	`owner_id` text NOT NULL,
	`chat_id` text,
	`at` integer NOT NULL,
	PRIMARY KEY(`run_id`, `kind`)
);
--> statement-breakpoint
CREATE INDEX `usage_owner` ON `usage` (`owner_id`,`at`);--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text,
	`role` text NOT NULL,
	`timezone` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	CONSTRAINT "users_role" CHECK(role in ('owner', 'user', 'system'))
);
