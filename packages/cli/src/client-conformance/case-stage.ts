import type { CacheFolder } from './cache-folder.ts';
import type { ClientProcess } from './client-process.ts';
import type { ClientSetting, Feature } from './client-setting.ts';
import type { FakeServer, ReceivedRequest, RequestKind } from './fake-server.ts';
import type { Strangers } from './strangers.ts';

/** What a case works with: a server, and a client that it starts. */
export interface CaseStage {
  readonly io: ClientSetting['io'];
  readonly server: FakeServer;
  /** Another host, which must never see the token. */
  readonly strangers: Strangers;
  readonly guestKey: string;
  readonly cache: CacheFolder;
  /** Binds new modules under these names, besides those of the list, without an event. */
  bind(...names: readonly string[]): void;
  /** Removes a binding, without an event. */
  unbind(name: string): void;
  /** Binds new modules, and emits the event. */
  publish(...names: readonly string[]): void;
  /** Starts a client, after the previous one was killed. */
  start(options?: { readonly guestKey?: string; readonly cacheFolder?: string }): Promise<void>;
  /** Starts a client, and waits until it shows the current list and follows the change feed. */
  begin(): Promise<void>;
  /** Kills the client, as a crash does. */
  kill(): Promise<void>;
  /** Waits until the client shows exactly the current list. */
  showsList(): Promise<void>;
  /** Waits for a condition. @param action completes "It did not …" */
  until(action: string, isMet: (client: ClientProcess) => boolean): Promise<void>;
  /** Fails if the condition isn't met. @param fault completes "It …" */
  check(isMet: boolean, fault: string): void;
  /** Waits for this long, and fails on a violation. */
  pause(ms: number): Promise<void>;
  /** The requests of a kind. */
  requests(kind: RequestKind, name?: string): readonly ReceivedRequest[];
  /** Whether the client lacks this. */
  isWithout(feature: Feature): boolean;
  /** The client that was started last. */
  readonly client: () => ClientProcess;
}
