import { Module } from '@nestjs/common';
import { DemoUsersController } from './demo-users.controller.js';
import { PageFiles } from './page-files.js';
import { PageController } from './page.controller.js';

/** The page at `/`, and the users that it offers. */
@Module({ controllers: [PageController, DemoUsersController], providers: [PageFiles] })
export class PageModule {}
