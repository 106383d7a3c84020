import { Module } from '@nestjs/common';
import { MetricsController } from './metrics.controller.js';
import { SessionMetrics } from './session-metrics.js';

/** Metrics for Prometheus. */
@Module({ controllers: [MetricsController], providers: [SessionMetrics] })
export class MetricsModule {}
