import { parseArgs } from 'node:util';
import { benchApi } from './api.ts';
import { benchPacing, benchSlotToCall } from './chat.ts';
import { benchClaim } from './claim.ts';
import { benchCli } from './cli.ts';
import { benchCluster, benchClusterClaim, benchClusterLateness } from './cluster.ts';
import { benchDueCurve } from './due-curve.ts';
import { benchHttp } from './http.ts';
import { benchIdle } from './idle.ts';
import { benchLateness, benchPipeline } from './live.ts';
import { table, type Figure } from './report.ts';
import { benchRetention } from './retention.ts';
import { benchScale } from './scale.ts';
import { benchSchedule } from './schedule.ts';
import { benchSpace, benchStart } from './start.ts';
import { benchTemplates } from './templates.ts';
import { benchWhy } from './why.ts';
import { benchWords } from './words.ts';

const benches: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  schedule: benchSchedule,
  words: benchWords,
  lateness: benchLateness,
  claim: benchClaim,
  pipeline: benchPipeline,
  pacing: benchPacing,
  call: benchSlotToCall,
  start: benchStart,
  space: benchSpace,
  why: benchWhy,
  retention: benchRetention,
  api: benchApi,
  cli: benchCli,
  templates: benchTemplates,
  http: benchHttp,
  idle: benchIdle,
  cluster: benchCluster,
  'cluster-lateness': benchClusterLateness,
  'cluster-claim': benchClusterClaim,
  scale: benchScale,
  'due-curve': benchDueCurve,
};

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false }, only: { type: 'string' } } });

const figures: Figure[] = [];
for (const [name, bench] of Object.entries(benches)) {
  if (values.only !== undefined && !values.only.split(',').includes(name)) continue;
  figures.push(...(await bench()).map((figure) => ({ bench: name, ...figure })));
}
process.stdout.write(values.json ? `${JSON.stringify(figures, null, 2)}\n` : `${table(figures)}\n`);
