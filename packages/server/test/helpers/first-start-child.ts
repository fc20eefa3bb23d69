// Runs the first start on a folder: `node first-start-child.ts <folder> [step]`. With a step it kills itself when it comes to
// it, as a power cut would; without, it tells what the start came to.
import process from 'node:process';
import { firstStart } from '../../src/ops/first-start.ts';
import { closeContext, demoOptions, openContext, withSteps } from './first-start-services.ts';

const [dataDir = '', lastStep] = process.argv.slice(2);
const deps = await openContext(dataDir);
let step = 0;
const announced = withSteps(deps, () => {
  step++;
  if (step === Number(lastStep)) process.kill(process.pid, 'SIGKILL');
});
const result = await firstStart(announced, demoOptions(dataDir));
process.stdout.write(JSON.stringify(result));
await closeContext(deps);
