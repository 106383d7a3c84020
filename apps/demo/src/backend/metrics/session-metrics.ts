import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { observeSessionAuth } from 'nestjs-session-auth/opentelemetry';

/** Collects the OpenTelemetry metrics of the library until they are read. */
@Injectable()
export class SessionMetrics implements OnModuleInit, OnApplicationShutdown {
  readonly #exporter = new PrometheusExporter({ preventServerStart: true });
  readonly #meters = new MeterProvider({ readers: [this.#exporter] });
  readonly #serializer = new PrometheusSerializer();
  #stop: (() => void) | undefined;

  /** Not in the constructor: a backend whose options are invalid is never shut down. */
  onModuleInit(): void {
    this.#stop = observeSessionAuth({ meter: this.#meters.getMeter('nestjs-session-auth') });
  }

  /** Returns the current metrics in the text format of Prometheus. */
  async read(): Promise<string> {
    const { resourceMetrics } = await this.#exporter.collect();
    return this.#serializer.serialize(resourceMetrics);
  }

  async onApplicationShutdown(): Promise<void> {
    this.#stop?.();
    await this.#meters.shutdown();
  }
}
