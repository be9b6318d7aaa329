UPDATE "idempotency_keys" SET "result" = json_build_object('taskId', result, 'created', true, 'warnings', '[]'::json)::text WHERE scope = 'create';--> statement-breakpoint
DELETE FROM "idempotency_keys" WHERE scope LIKE 'undo:%' OR scope LIKE 'grant:%';--> statement-breakpoint
UPDATE "idempotency_keys" SET "result" = json_build_object(
	'occurrenceId', nullif(split_part(result, ' ', 1), ''),
	'entryId', nullif(split_part(result, ' ', 2), ''),
	'told', CASE
		WHEN scope LIKE 'edit:%' THEN '{"warnings":[],"changes":{}}'::json
		WHEN scope LIKE 'skip:%' THEN '{"slots":[]}'::json
		WHEN scope LIKE 'retry:%' OR scope LIKE 'replay:%' THEN json_build_object('taskRunId', nullif(split_part(result, ' ', 1), ''))
	END
)::text WHERE scope <> 'create' AND scope NOT LIKE 'answer:%';