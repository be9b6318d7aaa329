ALTER TABLE `audit` ADD `trace_id` text;--> statement-breakpoint
ALTER TABLE `idempotency_keys` ADD `answer` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `trace_id` text;