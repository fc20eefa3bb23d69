import type { Attributes, AttributeValue } from '../span.ts';
import type { AnyValueMessage, KeyValueMessage } from './messages.ts';

/** Attributes in OTLP. Lone surrogates, which UTF-8 can't encode, become U+FFFD. */
export function attributeMessages(attributes: Attributes): KeyValueMessage[] {
  return [...attributes].map(([key, value]) => ({ key: key.toWellFormed(), value: valueMessage(value) }));
}

function valueMessage(value: AttributeValue): AnyValueMessage {
  if (typeof value === 'string') return { stringValue: value.toWellFormed() };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'bigint') {
    // Larger integers become text.
    return BigInt.asIntN(64, value) === value ? { intValue: value } : { stringValue: String(value) };
  }
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: BigInt(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map(valueMessage) } };
}
