import { onFitNode } from './runtime.ts';

await onFitNode(async () => {
  const { runSandbox } = await import('./compose/sandbox-process.ts');
  await runSandbox();
});
