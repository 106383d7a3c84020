import { Module } from '@nestjs/common';
import { OpeningsController } from './openings.controller.js';
import { OpeningsService } from './openings.service.js';

/** Positions to fill. */
@Module({ controllers: [OpeningsController], providers: [OpeningsService] })
export class OpeningsModule {}
