import { defineConfig } from 'drizzle-kit';

export default defineConfig({ dialect: 'sqlite', schema: './drizzle/schema.sqlite.ts', out: './drizzle/sqlite' });
