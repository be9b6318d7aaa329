import { onFitNode } from './runtime.ts';

await onFitNode(async () => {
  const { runServer } = await import('./compose/server-process.ts');
  process.exitCode = await runServer();
});
