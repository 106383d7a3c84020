import { Scope, UseGuards } from '@nestjs/common';
import { Query, ResolveField, ResolveReference, Resolver } from '@nestjs/graphql';
import { Public, Roles, SessionAuthGuard } from 'nestjs-session-auth';
import { visit } from './audited-app.js';

@Resolver()
export class OpenQuery {
  @Query('featured') @Public() featured(): object {
    return { id: 1, company: {} };
  }
}

@Resolver('Opening')
@UseGuards(SessionAuthGuard)
export class GuardedClass {
  @Query('openings') openings(): object[] {
    visit('GuardedClass.openings');
    return [{ id: 1 }];
  }

  @ResolveField('title') title(): string {
    return visit('GuardedClass.title');
  }
}

@Resolver('Opening')
@Roles('boss')
export class RuledClass {
  @Query('openings') openingsForBosses(): object[] {
    visit('RuledClass.openingsForBosses');
    return [{ id: 1 }];
  }

  @ResolveField('title') titleForBosses(): string {
    return visit('RuledClass.titleForBosses');
  }
}

@Resolver('Opening')
export class RuledField {
  @Query('openings') @UseGuards(SessionAuthGuard) openings(): object[] {
    visit('RuledField.openings');
    return [{ id: 1 }];
  }

  @ResolveField('title') @Roles('boss') titleForBosses(): string {
    return visit('RuledField.titleForBosses');
  }
}

@Resolver('Opening')
@UseGuards(SessionAuthGuard)
export class OpenField {
  @ResolveField('title') @Public() title(): string {
    return 'title';
  }
}

@Resolver('Opening')
export class PlainField {
  @ResolveField('title') title(): string {
    return visit('PlainField.title');
  }
}

@Resolver({ scope: Scope.REQUEST } as never)
export class RequestScopedQuery extends OpenQuery {}

@Resolver('Company')
@UseGuards(SessionAuthGuard)
export class NestedClass {
  @ResolveField('name') name(): string {
    return visit('NestedClass.name');
  }
}

@Resolver('Sibling')
@UseGuards(SessionAuthGuard)
export class SiblingClass {
  @ResolveField('name') name(): string {
    return visit('SiblingClass.name');
  }
}

@Resolver('Named')
@UseGuards(SessionAuthGuard)
export class InterfaceClass {
  @ResolveField('__resolveType') __resolveType(): string {
    return 'Company';
  }
}

@Resolver()
export class OpenInterfaceQuery {
  @Query('named') @Public() named(): object {
    return {};
  }
}

@Resolver()
export class OpenUnionQuery {
  @Query('search') @Public() search(): object {
    return { __typename: 'Company' };
  }
}

@Resolver('Opening')
@UseGuards(SessionAuthGuard)
export class Reference {
  @ResolveReference() resolveReference(): object {
    visit('Reference.resolveReference');
    return { id: 1 };
  }
}

@Resolver('Opening')
export class OpenReference {
  @ResolveReference() @Public() resolveReference(): object {
    return { id: 1 };
  }
}
