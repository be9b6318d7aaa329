CREATE TABLE "attempts" (
	"run_id" text NOT NULL,
	"attempt" bigint NOT NULL,
	"status" text NOT NULL,
	"boot_id" text NOT NULL,
	"started_at" bigint NOT NULL,
	"finished_at" bigint,
	"duration_ms" bigint,
	"http_status" bigint,
	"error" text,
	CONSTRAINT "attempts_pk" PRIMARY KEY("run_id","attempt"),
	CONSTRAINT "attempts_status" CHECK (status in ('running', 'succeeded', 'failed', 'timed_out', 'interrupted', 'cancelled')),
	CONSTRAINT "attempts_end" CHECK ((status = 'running') = (finished_at is null))
);
--> statement-breakpoint
CREATE TABLE "audit" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"at" bigint NOT NULL,
	"actor" text NOT NULL,
	"verb" text NOT NULL,
	"task_id" text,
	"chat_id" text,
	"before" text,
	"after" text
);
--> statement-breakpoint
CREATE TABLE "chat_aliases" (
	"provider" text NOT NULL,
	"address" text NOT NULL,
	"chat_id" text NOT NULL,
	"created_at" bigint NOT NULL,
	CONSTRAINT "chat_aliases_pk" PRIMARY KEY("provider","address")
);
--> statement-breakpoint
CREATE TABLE "chats" (
	"id" text PRIMARY KEY NOT NULL,
	"provider" text NOT NULL,
	"address" text NOT NULL,
	"title" text,
	"kind" text,
	"state" text NOT NULL,
	"timezone" text,
	"settings" text NOT NULL,
	"approved_by" text,
	"last_number" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	CONSTRAINT "chats_state" CHECK (state in ('new', 'approved', 'refused', 'gone'))
);
--> statement-breakpoint
CREATE TABLE "deliveries" (
	"id" text PRIMARY KEY NOT NULL,
	"run_id" text,
	"task_id" text,
	"chat_id" text NOT NULL,
	"lane" text NOT NULL,
	"rank" bigint NOT NULL,
	"kind" text NOT NULL,
	"part" bigint NOT NULL,
	"status" text NOT NULL,
	"ready_at" bigint,
	"content" text NOT NULL,
	"unknown_policy" text NOT NULL,
	"expires_at" bigint,
	"fence" bigint NOT NULL,
	"boot_id" text,
	"sends" bigint NOT NULL,
	"put_offs" bigint NOT NULL,
	"sent_at" bigint,
	"settles" bigint NOT NULL,
	"evidence" text,
	"cause" text,
	"error" text,
	"platform_chat_id" text,
	"message_thread_id" bigint,
	"message_id" bigint,
	"created_at" bigint NOT NULL,
	"delivered_at" bigint,
	CONSTRAINT "deliveries_status" CHECK (status in ('pending', 'sending', 'delivered', 'unknown', 'blocked', 'failed')),
	CONSTRAINT "deliveries_proof" CHECK (status <> 'delivered' or message_id is not null)
);
--> statement-breakpoint
CREATE TABLE "drafts" (
	"id" text PRIMARY KEY NOT NULL,
	"chat_id" text NOT NULL,
	"user_id" text NOT NULL,
	"topic" bigint,
	"step" text NOT NULL,
	"body" text NOT NULL,
	"message_id" bigint,
	"expires_at" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "gaps" (
	"id" text PRIMARY KEY NOT NULL,
	"task_id" text NOT NULL,
	"from_at" bigint NOT NULL,
	"to_at" bigint NOT NULL,
	"count" bigint NOT NULL,
	"reason" text NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "grants" (
	"id" text PRIMARY KEY NOT NULL,
	"owner_id" text NOT NULL,
	"chat_id" text NOT NULL,
	"scopes" text NOT NULL,
	"expires_at" bigint,
	"revoked_at" bigint,
	"revoked_by" text,
	"created_at" bigint NOT NULL,
	"created_by" text NOT NULL,
	CONSTRAINT "grants_owner" UNIQUE("id","owner_id")
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"scope" text NOT NULL,
	"key" text NOT NULL,
	"payload_hash" text NOT NULL,
	"result" text NOT NULL,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	CONSTRAINT "idempotency_keys_pk" PRIMARY KEY("scope","key")
);
--> statement-breakpoint
CREATE TABLE "inbox" (
	"update_id" bigint PRIMARY KEY NOT NULL,
	"payload" text NOT NULL,
	"status" text NOT NULL,
	"attempts" bigint NOT NULL,
	"error" text,
	"received_at" bigint NOT NULL,
	"done_at" bigint,
	CONSTRAINT "inbox_status" CHECK (status in ('received', 'done', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "kv" (
	"scope" text NOT NULL,
	"key" text NOT NULL,
	"value" text NOT NULL,
	"expires_at" bigint,
	"updated_at" bigint NOT NULL,
	CONSTRAINT "kv_pk" PRIMARY KEY("scope","key")
);
--> statement-breakpoint
CREATE TABLE "occurrences" (
	"id" text PRIMARY KEY NOT NULL,
	"task_id" text NOT NULL,
	"slot_at" bigint NOT NULL,
	"source" text NOT NULL,
	"status" text NOT NULL,
	"reason" text,
	"decide_by" bigint,
	"replay_of" text,
	"run_id" text,
	"late_ms" bigint NOT NULL,
	"error" text,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	CONSTRAINT "occurrences_status" CHECK (status in ('pending', 'dispatched', 'succeeded', 'failed', 'cancelled', 'skipped', 'missed')),
	CONSTRAINT "occurrences_run" CHECK (status <> 'dispatched' or run_id is not null)
);
--> statement-breakpoint
CREATE TABLE "runs" (
	"id" text PRIMARY KEY NOT NULL,
	"source" text NOT NULL,
	"idempotency_key" text NOT NULL,
	"payload_hash" text NOT NULL,
	"lane" text,
	"exclusive" bigint NOT NULL,
	"rank" bigint NOT NULL,
	"task_id" text,
	"task_version" bigint,
	"occurrence_id" text,
	"chat_id" text,
	"owner_id" text NOT NULL,
	"status" text NOT NULL,
	"ready_at" bigint NOT NULL,
	"fence" bigint NOT NULL,
	"boot_id" text,
	"attempts" bigint NOT NULL,
	"interruptions" bigint NOT NULL,
	"cancel_requested_at" bigint,
	"cancel_reason" text,
	"input" text NOT NULL,
	"output" text,
	"error" text,
	"created_at" bigint NOT NULL,
	"started_at" bigint,
	"finished_at" bigint,
	CONSTRAINT "runs_status" CHECK (status in ('queued', 'running', 'backoff', 'waiting', 'succeeded', 'failed', 'cancelled')),
	CONSTRAINT "runs_boot" CHECK (status <> 'running' or boot_id is not null)
);
--> statement-breakpoint
CREATE TABLE "tasks" (
	"id" text PRIMARY KEY NOT NULL,
	"number" bigint NOT NULL,
	"home_topic" bigint,
	"owner_id" text NOT NULL,
	"grant_id" text NOT NULL,
	"version" bigint NOT NULL,
	"state" text NOT NULL,
	"next_at" bigint,
	"title" text NOT NULL,
	"instructions" text NOT NULL,
	"action" text NOT NULL,
	"schedule_kind" text NOT NULL,
	"once_at" bigint,
	"cron" text,
	"rrule" text,
	"interval" text,
	"start_at" bigint,
	"interval_from" text,
	"timezone" text NOT NULL,
	"min_gap_ms" bigint,
	"policies" text NOT NULL,
	"auto_pause" bigint NOT NULL,
	"subject" text,
	"tags" text NOT NULL,
	"context" text NOT NULL,
	"chat_id" text NOT NULL,
	"runs" bigint NOT NULL,
	"failures" bigint NOT NULL,
	"consecutive_failures" bigint NOT NULL,
	"bounded_runs" bigint NOT NULL,
	"last_run_at" bigint,
	"last_run_status" text,
	"last_error" text,
	"topic_state" text NOT NULL,
	"topic_id" bigint,
	"topic_boot" text,
	"topic_asked_at" bigint,
	"topic_cause" text,
	"topic_name" text,
	"paused_reason" text,
	"created_at" bigint NOT NULL,
	"created_by" text NOT NULL,
	"updated_at" bigint NOT NULL,
	"updated_by" text NOT NULL,
	"paused_at" bigint,
	"paused_by" text,
	"resumed_at" bigint,
	"resumed_by" text,
	"deleted_at" bigint,
	"deleted_by" text,
	CONSTRAINT "tasks_state" CHECK (state in ('active', 'paused', 'completed', 'deleted')),
	CONSTRAINT "tasks_next" CHECK ((state = 'active') = (next_at is not null)),
	CONSTRAINT "tasks_payload" CHECK (case schedule_kind
    when 'once' then once_at is not null and cron is null and rrule is null and interval is null
    when 'cron' then once_at is null and cron is not null and rrule is null and interval is null
    when 'rrule' then once_at is null and cron is null and rrule is not null and interval is null
    when 'interval' then once_at is null and cron is null and rrule is null
      and interval is not null and start_at is not null and interval_from in ('start', 'completion')
    else 1 = 0 end),
	CONSTRAINT "tasks_topic" CHECK (topic_state <> 'ready' or topic_id is not null),
	CONSTRAINT "tasks_topic_state" CHECK (topic_state in ('none', 'creating', 'ready', 'blocked'))
);
--> statement-breakpoint
CREATE TABLE "usage" (
	"run_id" text NOT NULL,
	"kind" text NOT NULL,
	"quantity" bigint NOT NULL,
	"task_id" text,
	"owner_id" text NOT NULL,
	"chat_id" text,
	"at" bigint NOT NULL,
	CONSTRAINT "usage_pk" PRIMARY KEY("run_id","kind")
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text,
	"role" text NOT NULL,
	"timezone" text,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	CONSTRAINT "users_role" CHECK (role in ('owner', 'user', 'system'))
);
--> statement-breakpoint
ALTER TABLE "chat_aliases" ADD CONSTRAINT "chat_aliases_chat_id_chats_id_fk" FOREIGN KEY ("chat_id") REFERENCES "public"."chats"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_chat_id_chats_id_fk" FOREIGN KEY ("chat_id") REFERENCES "public"."chats"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_chat_id_chats_id_fk" FOREIGN KEY ("chat_id") REFERENCES "public"."chats"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_grant" FOREIGN KEY ("grant_id","owner_id") REFERENCES "public"."grants"("id","owner_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "audit_task" ON "audit" USING btree ("task_id","at");--> statement-breakpoint
CREATE UNIQUE INDEX "chats_address" ON "chats" USING btree ("provider","address");--> statement-breakpoint
CREATE UNIQUE INDEX "deliveries_part" ON "deliveries" USING btree ("run_id","kind","part");--> statement-breakpoint
CREATE INDEX "deliveries_ready" ON "deliveries" USING btree ("chat_id","rank","id") WHERE status in ('pending', 'blocked');--> statement-breakpoint
CREATE INDEX "deliveries_waiting" ON "deliveries" USING btree ("ready_at") WHERE status in ('pending', 'blocked');--> statement-breakpoint
CREATE INDEX "deliveries_unknown" ON "deliveries" USING btree ("ready_at") WHERE status = 'unknown';--> statement-breakpoint
CREATE INDEX "deliveries_sending" ON "deliveries" USING btree ("boot_id") WHERE status = 'sending';--> statement-breakpoint
CREATE INDEX "deliveries_open" ON "deliveries" USING btree ("lane","id") WHERE status in ('pending', 'blocked', 'sending', 'unknown');--> statement-breakpoint
CREATE INDEX "drafts_place" ON "drafts" USING btree ("chat_id","user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "gaps_from" ON "gaps" USING btree ("task_id","from_at");--> statement-breakpoint
CREATE INDEX "idempotency_keys_expiry" ON "idempotency_keys" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "inbox_open" ON "inbox" USING btree ("update_id") WHERE status = 'received';--> statement-breakpoint
CREATE UNIQUE INDEX "occurrences_slot" ON "occurrences" USING btree ("task_id","slot_at");--> statement-breakpoint
CREATE INDEX "occurrences_pending" ON "occurrences" USING btree ("task_id","slot_at") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "occurrences_decide" ON "occurrences" USING btree ("decide_by") WHERE status = 'pending' and decide_by is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "runs_key" ON "runs" USING btree ("idempotency_key","source");--> statement-breakpoint
CREATE UNIQUE INDEX "runs_exclusive" ON "runs" USING btree ("task_id") WHERE exclusive = 1 and status in ('queued', 'running', 'backoff', 'waiting');--> statement-breakpoint
CREATE INDEX "runs_shared" ON "runs" USING btree ("task_id") WHERE exclusive = 0 and status in ('queued', 'running', 'backoff', 'waiting');--> statement-breakpoint
CREATE INDEX "runs_lane" ON "runs" USING btree ("lane") WHERE lane is not null and status in ('queued', 'running', 'backoff', 'waiting');--> statement-breakpoint
CREATE INDEX "runs_ready" ON "runs" USING btree ("rank","ready_at") WHERE status in ('queued', 'backoff');--> statement-breakpoint
CREATE INDEX "runs_running" ON "runs" USING btree ("boot_id") WHERE status = 'running';--> statement-breakpoint
CREATE UNIQUE INDEX "tasks_number" ON "tasks" USING btree ("chat_id","number");--> statement-breakpoint
CREATE INDEX "tasks_due" ON "tasks" USING btree ("next_at") WHERE next_at is not null;--> statement-breakpoint
CREATE INDEX "tasks_owner" ON "tasks" USING btree ("owner_id","state");--> statement-breakpoint
CREATE INDEX "tasks_subject" ON "tasks" USING btree ("chat_id","subject") WHERE subject is not null;--> statement-breakpoint
CREATE INDEX "usage_owner" ON "usage" USING btree ("owner_id","at");