CREATE TABLE "task_tags" (
	"task_id" text NOT NULL,
	"tag" text NOT NULL,
	CONSTRAINT "task_tags_pk" PRIMARY KEY("task_id","tag")
);
--> statement-breakpoint
CREATE TABLE "told" (
	"chat_id" text NOT NULL,
	"word" text NOT NULL,
	"reason" text NOT NULL,
	"task_id" text NOT NULL,
	"about" text NOT NULL,
	"at" bigint NOT NULL,
	CONSTRAINT "told_pk" PRIMARY KEY("chat_id","word","reason","task_id","about")
);
--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD COLUMN "target" text;--> statement-breakpoint
UPDATE idempotency_keys SET scope = regexp_replace(scope, ':[^:]*$', ''), target = coalesce(substring(scope from ':([^:]*)$'), '');--> statement-breakpoint
ALTER TABLE "idempotency_keys" ALTER COLUMN "target" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "title" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "instructions" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "idempotency_keys" DROP CONSTRAINT "idempotency_keys_pk";
--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_pk" PRIMARY KEY("scope","target","key");--> statement-breakpoint
-- A row that cannot be read gives nothing.
CREATE FUNCTION pg_temp.text_in(body text, name text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN RETURN coalesce(body::json ->> name, ''); EXCEPTION WHEN others THEN RETURN ''; END $$;--> statement-breakpoint
CREATE FUNCTION pg_temp.texts_in(body text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN RETURN QUERY SELECT json_array_elements_text(body::json); EXCEPTION WHEN others THEN RETURN; END $$;--> statement-breakpoint
UPDATE runs SET title = pg_temp.text_in(input, 'title'), instructions = pg_temp.text_in(input, 'instructions');--> statement-breakpoint
INSERT INTO task_tags (task_id, tag) SELECT t.id, tag FROM tasks t, pg_temp.texts_in(t.tags) tag WHERE t.tags <> '[]' ON CONFLICT DO NOTHING;--> statement-breakpoint
DROP FUNCTION pg_temp.text_in(text, text);--> statement-breakpoint
DROP FUNCTION pg_temp.texts_in(text);--> statement-breakpoint
INSERT INTO told (chat_id, word, reason, task_id, about, at)
SELECT substr(scope, 6), 'blocked', cause, CASE WHEN cause = 'topic_in_doubt' THEN place ELSE '' END, CASE WHEN cause = 'topic_in_doubt' THEN '' ELSE place END, updated_at
FROM (SELECT *, split_part(key, ':', 2) AS cause, split_part(key, ':', 3) AS place FROM kv WHERE scope LIKE 'told:%' AND key LIKE 'blocked:%:%') said;--> statement-breakpoint
INSERT INTO told (chat_id, word, reason, task_id, about, at)
SELECT substr(scope, 6), 'failed', '', '', substr(key, 8), updated_at FROM kv WHERE scope LIKE 'told:%' AND key LIKE 'failed:%';--> statement-breakpoint
INSERT INTO told (chat_id, word, reason, task_id, about, at)
SELECT substr(scope, 6), 'not_pinned', '', '', '', updated_at FROM kv WHERE scope LIKE 'told:%' AND key = 'notPinned';--> statement-breakpoint
-- A task and an instant, or a task and a schedule, behind the word.
INSERT INTO told (chat_id, word, reason, task_id, about, at)
SELECT substr(scope, 6), CASE said WHEN 'slots_differ' THEN said ELSE 'may_not_run' END, CASE said WHEN 'slots_differ' THEN '' ELSE said END,
	split_part(key, ':', 2), split_part(key, ':', 3), updated_at
FROM (SELECT *, split_part(key, ':', 1) AS said FROM kv WHERE scope LIKE 'told:%' AND (key LIKE 'grant@_%:%:%' ESCAPE '@' OR key LIKE 'slots@_differ:%:%' ESCAPE '@')) told_before;--> statement-breakpoint
INSERT INTO told (chat_id, word, reason, task_id, about, at)
SELECT substr(scope, 6), 'reply_hint', '', substring(key from ':([^:]*)$'), substring(key from '^reply-hint:(.*):[^:]*$'), updated_at
FROM kv WHERE scope LIKE 'told:%' AND key LIKE 'reply-hint:%:%';--> statement-breakpoint
DELETE FROM kv WHERE scope LIKE 'told:%';
