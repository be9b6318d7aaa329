DROP INDEX "tasks_subject";--> statement-breakpoint
CREATE INDEX "tasks_subject" ON "tasks" USING btree ("subject","id") WHERE subject is not null;