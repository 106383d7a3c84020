import { type DynamicModule, Module } from '@nestjs/common';
import { ConsoleParts } from './console-parts.js';
import { ControlsController } from './controls/controls.controller.js';
import { InfoController } from './info.controller.js';
import { GuardActivity } from './live/guard-activity.js';
import { LiveController } from './live/live.controller.js';
import { LiveFeed } from './live/live-feed.js';
import { LoadController } from './load/load.controller.js';
import { LoadRuns } from './load/load-runs.js';
import { PageController } from './page/page.controller.js';
import { PageFiles } from './page/page-files.js';
import { SceneRuns } from './scenes/scene-runs.js';
import { ScenesController } from './scenes/scenes.controller.js';
import { TrickleController } from './trickle/trickle.controller.js';
import { Trickle } from './trickle/trickle.js';

/** The page at `/`, with its live view and its controls. It observes the backend from outside. */
@Module({})
export class ConsoleModule {
  static over(parts: ConsoleParts): DynamicModule {
    return {
      module: ConsoleModule,
      controllers: [
        PageController,
        InfoController,
        LiveController,
        ...(parts.info.controls
          ? [ControlsController, LoadController, ScenesController, TrickleController]
          : []),
      ],
      providers: [
        { provide: ConsoleParts, useValue: parts },
        PageFiles,
        GuardActivity,
        LiveFeed,
        LoadRuns,
        SceneRuns,
        Trickle,
      ],
    };
  }
}
