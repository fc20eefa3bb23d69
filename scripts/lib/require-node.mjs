// Imported first by what needs the workspace's own Node: says so, instead of failing on syntax that an older one can't read.
import process from 'node:process';
import { isNodeTooOld, oldestNode } from './node-version.mjs';

if (isNodeTooOld()) {
  console.error(
    `This needs Node.js ${oldestNode} or later and runs on ${process.version}. Start it through npm (\`npm test\`, \`npm run check\`, …), ` +
      'which brings a Node.js of its own.',
  );
  process.exit(1);
}
