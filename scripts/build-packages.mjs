// Builds the packages that the server offers, unless the present sources are built already.
//
//   node scripts/build-packages.mjs            into packages/server/dist
//
// Set-up calls it.
import './lib/require-node.mjs';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keepBuild } from './lib/keep-build.mjs';
import { packagesBuild } from './lib/kept-build.mjs';
import { buildPackage, published } from './lib/publish.mjs';

await keepBuild(packagesBuild, async (folder) => {
  const list = [];
  for (const each of published) {
    const { name, version, file, archive } = await buildPackage(each);
    writeFileSync(join(folder, file), archive);
    list.push({ name, version, file });
  }
  writeFileSync(join(folder, packagesBuild.mark), `${JSON.stringify(list, null, 2)}\n`);
});
