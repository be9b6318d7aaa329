#!/usr/bin/env node
import { onFitOrBroughtNode } from './runtime.ts';

await onFitOrBroughtNode(async () => {
  const { runCli } = await import('./compose/cli.ts');
  await runCli();
});
