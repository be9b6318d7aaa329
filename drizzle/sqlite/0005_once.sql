UPDATE `idempotency_keys` SET `result` = json_object('taskId', result, 'created', json('true'), 'warnings', json('[]')) WHERE scope = 'create';--> statement-breakpoint
DELETE FROM `idempotency_keys` WHERE scope LIKE 'undo:%' OR scope LIKE 'grant:%';--> statement-breakpoint
UPDATE `idempotency_keys` SET `result` = json_object(
	'occurrenceId', nullif(substr(result, 1, instr(result, ' ') - 1), ''),
	'entryId', nullif(substr(result, instr(result, ' ') + 1), ''),
	'told', CASE
		WHEN scope LIKE 'edit:%' THEN json('{"warnings":[],"changes":{}}')
		WHEN scope LIKE 'skip:%' THEN json('{"slots":[]}')
		WHEN scope LIKE 'retry:%' OR scope LIKE 'replay:%' THEN json_object('taskRunId', nullif(substr(result, 1, instr(result, ' ') - 1), ''))
	END
) WHERE scope <> 'create' AND scope NOT LIKE 'answer:%';