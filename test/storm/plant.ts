// Loaded before a node whose environment names a fault: has the server be wrong in that way.
import { registerHooks } from 'node:module';
import process from 'node:process';
import { plants } from './plants.ts';

const plant = plants[process.env.STORM_PLANT ?? ''];
if (plant === undefined) throw new Error(`Expected STORM_PLANT to name a fault, not ${process.env.STORM_PLANT}`);

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith(`/packages/server/src/${plant.file}`)) return loaded;
    const [before, after, ...others] = String(loaded.source).split(plant.from);
    if (after === undefined || others.length > 0)
      throw new Error(`Expected ${plant.file} to contain "${plant.from}" once`);
    return { ...loaded, source: before + plant.to + after };
  },
});
