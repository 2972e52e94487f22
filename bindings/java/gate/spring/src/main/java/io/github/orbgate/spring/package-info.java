/** A gate for Spring MVC services, configured by Spring Boot. */
package io.github.orbgate.spring;
