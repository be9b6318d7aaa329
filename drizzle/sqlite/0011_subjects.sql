DROP INDEX `tasks_subject`;--> statement-breakpoint
CREATE INDEX `tasks_subject` ON `tasks` (`subject`,`id`) WHERE subject is not null;