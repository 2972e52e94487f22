//! What is legal in a policy and may surprise all the same.

use orbgate_yaml::{Faults, Place, quoted};

use super::fault::Fault;
use super::grammar::parameter_of_another_format;
use super::model::Policy;

impl Policy {
    /// What is legal and may surprise all the same: literals like `:id`, which are parameters in other
    /// formats, then the [`overlaps`](Self::overlaps). At most 1,000 of each are listed.
    #[must_use]
    pub fn warnings(&self) -> Vec<Fault> {
        let mut warnings = self.colon_literals();
        warnings.extend(self.overlaps());
        warnings
    }

    /// The literals like `:id` among the [`warnings`](Self::warnings). Takes time linear in the size of the policy.
    #[must_use]
    pub fn colon_literals(&self) -> Vec<Fault> {
        let mut literals = Faults::default();
        for api in &self.apis {
            if let Some(base_path) = &api.base_path {
                warn(base_path, api.base_path_place, &mut literals);
            }
            for route in api.scopes.iter().flat_map(|scope| &scope.routes) {
                warn(route.template(), route.place, &mut literals);
            }
        }
        Fault::list(literals.into_list())
    }
}

fn warn(path: &str, place: Place, faults: &mut Faults) {
    for segment in path.split('/') {
        if let Some(parameter) = parameter_of_another_format(segment) {
            let (segment, parameter) = (quoted(segment), quoted(&parameter));
            faults.push(
                place,
                format!("{segment} is a literal; a parameter is written {parameter}"),
            );
        }
    }
}
