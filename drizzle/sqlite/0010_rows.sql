CREATE TABLE `task_tags` (
	`task_id` text NOT NULL,
	`tag` text NOT NULL,
	PRIMARY KEY(`task_id`, `tag`)
);
--> statement-breakpoint
CREATE TABLE `told` (
	`chat_id` text NOT NULL,
	`word` text NOT NULL,
	`reason` text NOT NULL,
	`task_id` text NOT NULL,
	`about` text NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`chat_id`, `word`, `reason`, `task_id`, `about`)
);
--> statement-breakpoint
CREATE TABLE `__new_idempotency_keys` (
	`scope` text NOT NULL,
	`target` text NOT NULL,
	`key` text NOT NULL,
	`payload_hash` text NOT NULL,
	`result` text NOT NULL,
	`answer` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`scope`, `target`, `key`)
);
--> statement-breakpoint
INSERT INTO `__new_idempotency_keys`("scope", "target", "key", "payload_hash", "result", "answer", "created_at", "expires_at") SELECT
	CASE WHEN head = '' THEN scope ELSE substr(head, 1, length(head) - 1) END, substr(scope, CASE WHEN head = '' THEN length(scope) ELSE length(head) END + 1),
	"key", "payload_hash", "result", "answer", "created_at", "expires_at"
-- The head is what stands up to the last colon.
FROM (SELECT *, rtrim(scope, replace(scope, ':', '')) AS head FROM `idempotency_keys`);--> statement-breakpoint
DROP TABLE `idempotency_keys`;--> statement-breakpoint
ALTER TABLE `__new_idempotency_keys` RENAME TO `idempotency_keys`;--> statement-breakpoint
CREATE INDEX `idempotency_keys_expiry` ON `idempotency_keys` (`expires_at`);--> statement-breakpoint
ALTER TABLE `runs` ADD `title` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `runs` ADD `instructions` text DEFAULT '' NOT NULL;;--> statement-breakpoint
UPDATE runs SET title = coalesce(input ->> '$.title', ''), instructions = coalesce(input ->> '$.instructions', '') WHERE json_valid(input);--> statement-breakpoint
INSERT OR IGNORE INTO task_tags (task_id, tag)
SELECT t.id, tag.value FROM tasks t, json_each(CASE WHEN json_valid(t.tags) THEN t.tags ELSE '[]' END) tag WHERE tag.type = 'text';--> statement-breakpoint
INSERT INTO told (chat_id, word, reason, task_id, about, at)
SELECT substr(scope, 6), 'blocked', cause, CASE WHEN cause = 'topic_in_doubt' THEN place ELSE '' END, CASE WHEN cause = 'topic_in_doubt' THEN '' ELSE place END, updated_at
FROM (SELECT *, substr(key, 9, instr(substr(key, 9), ':') - 1) AS cause, substr(key, 9 + instr(substr(key, 9), ':')) AS place FROM kv WHERE scope LIKE 'told:%' AND key LIKE 'blocked:%:%');--> statement-breakpoint
INSERT INTO told (chat_id, word, reason, task_id, about, at)
SELECT substr(scope, 6), 'failed', '', '', substr(key, 8), updated_at FROM kv WHERE scope LIKE 'told:%' AND key LIKE 'failed:%';--> statement-breakpoint
INSERT INTO told (chat_id, word, reason, task_id, about, at)
SELECT substr(scope, 6), 'not_pinned', '', '', '', updated_at FROM kv WHERE scope LIKE 'told:%' AND key = 'notPinned';--> statement-breakpoint
-- A task and an instant, or a task and a schedule, behind the word.
INSERT INTO told (chat_id, word, reason, task_id, about, at)
SELECT substr(scope, 6), CASE said WHEN 'slots_differ' THEN said ELSE 'may_not_run' END, CASE said WHEN 'slots_differ' THEN '' ELSE said END,
	substr(place, 1, instr(place, ':') - 1), substr(place, instr(place, ':') + 1), updated_at
FROM (SELECT *, substr(key, 1, instr(key, ':') - 1) AS said, substr(key, instr(key, ':') + 1) AS place FROM kv
	WHERE scope LIKE 'told:%' AND (key LIKE 'grant@_%:%:%' ESCAPE '@' OR key LIKE 'slots@_differ:%:%' ESCAPE '@'));--> statement-breakpoint
INSERT INTO told (chat_id, word, reason, task_id, about, at)
SELECT substr(scope, 6), 'reply_hint', '', substr(key, length(head) + 1), substr(head, 12, length(head) - 12), updated_at
FROM (SELECT *, rtrim(key, replace(key, ':', '')) AS head FROM kv WHERE scope LIKE 'told:%' AND key LIKE 'reply-hint:%:%');--> statement-breakpoint
DELETE FROM kv WHERE scope LIKE 'told:%';
