import { publishCrashContract } from './contracts/publish-crash-contract.ts';
import { backend } from './helpers/stores.ts';

publishCrashContract('SQLite and a folder', backend);
