CREATE TABLE `credentials` (
	`digest` text PRIMARY KEY NOT NULL,
	`chat_id` text,
	`key_id` text,
	`box` text,
	`holder` text,
	`held_until` integer,
	`asked_at` integer,
	`expires_at` integer NOT NULL,
	CONSTRAINT "credentials_sealed" CHECK((box is null) = (key_id is null)),
	CONSTRAINT "credentials_held" CHECK((holder is null) = (held_until is null))
);
--> statement-breakpoint
CREATE INDEX `credentials_expiry` ON `credentials` (`expires_at`);