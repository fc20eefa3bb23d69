import type { Attributes, AttributeValue } from '../span.ts';
import { version } from '../version.ts';
import { attributeMessages } from './attributes.ts';
import type { ResourceMessage, ScopeMessage } from './messages.ts';

/** Attributes of the application, `service.name` above all. */
export type ResourceAttributes = Attributes | Readonly<Record<string, AttributeValue>>;

/** The instrumentation scope. */
export const scopeMessage: ScopeMessage = Object.freeze({ name: '@tenon/trace', version });

/**
 * The resource of the spans, with the required attributes:
 * https://opentelemetry.io/docs/specs/semconv/resource/#semantic-attributes-with-sdk-provided-default-value
 */
export function resourceMessage(own: ResourceAttributes = {}): ResourceMessage {
  const attributes = new Map<string, AttributeValue>([
    ['service.name', 'unknown_service'],
    ['telemetry.sdk.name', '@tenon/trace'],
    ['telemetry.sdk.language', 'process' in globalThis ? 'nodejs' : 'webjs'],
    ['telemetry.sdk.version', version],
  ]);
  for (const [key, value] of own instanceof Map ? own : Object.entries(own)) attributes.set(key, value);
  return { attributes: attributeMessages(attributes) };
}
