export { type DiskStoreOptions, diskStore } from './disk-store.ts';
