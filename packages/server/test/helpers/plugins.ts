import type { BindingList, GuestBinding, Plugin, PublishedPlugin, Version } from '@tenon/protocol';
import type { Response as LightMyRequestResponse } from 'light-my-request';
import type { TestService, TestUser } from './service.ts';
import { makeApp, makeExtensionPoint, makeGuest, ok, tinyModule } from './world.ts';

const api = '/api/v1';

/** An extension point of an application's own, with a team, and a publisher who holds two guests of it. */
export interface Workshop {
  readonly service: TestService;
  readonly owner: TestUser;
  readonly viewer: TestUser;
  readonly publisher: TestUser;
  readonly appId: string;
  readonly extensionPointId: string;
  /** The guests that the publisher holds; their keys are `first` and `second`. */
  readonly first: string;
  readonly second: string;
  /** The path of the publisher's plugin of that name. */
  path(name?: string): string;
  /** Publishes a module that is like no other number's. */
  publish(number: number, query?: string): Promise<PublishedPlugin>;
  tryPublish(number: number, query?: string): Promise<LightMyRequestResponse>;
  /** Calls what lies below the plugin's path; by default as the owner. */
  call(method: string, below: string, json?: unknown, by?: TestUser): Promise<LightMyRequestResponse>;
  plugin(by?: TestUser): Promise<Plugin>;
  versions(by?: TestUser): Promise<Version[]>;
  settings(json: object): Promise<void>;
  /** The version that is bound under the first guest, and those that the team sees under it. */
  bound(): Promise<number | null | undefined>;
  guestBindings(): Promise<GuestBinding[]>;
  list(key?: 'first' | 'second'): Promise<BindingList>;
}

export async function openWorkshop(service: TestService): Promise<Workshop> {
  const [owner, viewer, publisher] = [
    await service.user('Olga'),
    await service.user('Vera'),
    await service.user('Paul'),
  ];
  const appId = await makeApp(service, owner, { viewer });
  const extensionPointId = await makeExtensionPoint(service, owner, appId);
  const first = await makeGuest(service, owner, appId, 'first', publisher);
  const second = await makeGuest(service, owner, appId, 'second', publisher);
  const asOwner = { token: owner.token };
  const path = (name = 'median') => `${api}/artifacts/${extensionPointId}/plugin/${publisher.id}/${name}`;
  const pointPath = `${api}/extension-points/${extensionPointId}`;
  const wasm = { 'content-type': 'application/wasm' };
  const published = (number: number) => ({ token: publisher.token, body: tinyModule(number), headers: wasm });
  const workshop: Workshop = {
    service,
    owner,
    viewer,
    publisher,
    appId,
    extensionPointId,
    first,
    second,
    path,
    publish: (number, query = '') => ok(service, 'PUT', path() + query, published(number)),
    tryPublish: (number, query = '') => service.call('PUT', path() + query, published(number)),
    call: (method, below, json, by = owner) => service.call(method, path() + below, { token: by.token, json }),
    plugin: (by = owner) => ok(service, 'GET', path(), { token: by.token }),
    versions: async (by = owner) =>
      (await ok<{ objects: Version[] }>(service, 'GET', `${path()}/versions`, { token: by.token })).objects,
    async settings(json) {
      await ok(service, 'PUT', pointPath, { ...asOwner, json });
    },
    bound: async () => (await workshop.guestBindings()).find(({ name }) => name === 'median')?.version,
    guestBindings: async () =>
      (await ok<{ objects: GuestBinding[] }>(service, 'GET', `/api/v1/apps/${appId}/guests/${first}/bindings`, asOwner))
        .objects,
    list: (key = 'first') => ok(service, 'GET', `${pointPath}/bindings/${key}`, asOwner),
  };
  return workshop;
}
