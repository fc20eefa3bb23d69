import { collectRaceContract } from './contracts/collect-race-contract.ts';
import { backend } from './helpers/stores.ts';

collectRaceContract('SQLite and a folder', backend);
