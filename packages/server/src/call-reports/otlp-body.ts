import {
  callDurationMetric,
  contentAddressAttribute,
  type MetricsRequest,
  metricsRequest,
  pluginIdAttribute,
} from '@tenon/protocol';
import type { BodyReader } from '../http/bodies/body-reader.ts';
import { jsonBody } from '../http/bodies/json-body.ts';
import { example } from '../http/examples.ts';
import { HttpError } from '../http/http-error.ts';

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });

const metricsExample = {
  resourceMetrics: [
    {
      scopeMetrics: [
        {
          metrics: [
            {
              name: callDurationMetric,
              unit: 's',
              histogram: {
                aggregationTemporality: 1,
                dataPoints: [
                  {
                    attributes: [
                      attribute(pluginIdAttribute, `${example.extensionPointId}/plugin/${example.userId}/median`),
                      attribute(contentAddressAttribute, example.contentAddress),
                    ],
                    timeUnixNano: '1772366400000000000',
                    count: '120',
                    explicitBounds: [0.001, 0.01],
                    bucketCounts: ['80', '39', '1'],
                  },
                ],
              },
            },
          ],
        },
      ],
    },
  ],
};

/** Exporters send the metrics of many plugins at once. */
const json = jsonBody(metricsRequest, metricsExample, ({ maxJsonBytes }) => ({
  maxBytes: 4 * maxJsonBytes,
  maxValues: 200_000,
  maxDepth: 32,
  acceptsGzip: true,
}));

/** Reads the JSON of OTLP metrics, also compressed with gzip. */
export const otlpBody: BodyReader<MetricsRequest> = {
  ...json,
  async read(source) {
    if (source.mediaType === 'application/x-protobuf') {
      throw new HttpError(
        'unsupported_media_type',
        'Send OTLP in JSON: set OTEL_EXPORTER_OTLP_PROTOCOL=http/json, or "encoding: json" in the otlphttp exporter of a collector.',
        { accept: 'application/json' },
      );
    }
    return json.read(source);
  },
};
